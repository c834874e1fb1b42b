/* Signed distances of shapes: see scene.h. Exact, but for the ellipse, where it is of first order
 * at the edge. */
#include "scm/simulate/scene.h"

#include <math.h>

static double length(double x, double y)
{
    return sqrt(x * x + y * y);
}

static double square_distance(double x, double y)
{
    const double half = sqrt(0.5);
    double right = fabs(x) - half;
    double down = fabs(y) - half;
    return length(fmax(right, 0), fmax(down, 0)) + fmin(fmax(right, down), 0);
}

/* Corners on the unit circle, one of them up. Folded into the half that its lower edge faces. */
static double triangle_distance(double x, double y)
{
    const double root = sqrt(3);
    const double half = root / 2; /* of an edge */
    x = fabs(x) - half;
    y = 0.5 - y;
    if (x + root * y > 0) {
        double turned = (x - root * y) / 2;
        y = (-root * x - y) / 2;
        x = turned;
    }
    x -= fmin(fmax(x, -2 * half), 0);
    return y < 0 ? length(x, y) : -length(x, y);
}

/* Two half discs on a square that stands on its corner: tip (0, 0), notch (0, 1), lobes around
 * (1/4, 3/4) with the radius sqrt(2)/4; y upwards. */
static double heart_distance(double x, double y)
{
    const double unit = 0.62;
    const double middle = 0.53;
    double right = fabs(x) * unit;
    double up = middle - y * unit;
    if (right + up > 1) {
        return (length(right - 0.25, up - 0.75) - sqrt(2) / 4) / unit;
    }
    double along = 0.5 * fmax(right + up, 0);
    double nearest = fmin(length(right, up - 1), length(right - along, up - along));
    return (right > up ? nearest : -nearest) / unit;
}

static double ellipse_distance(double width, double x, double y)
{
    double k = length(x, y / width);
    double slope = length(x, y / (width * width));
    return slope > 0 ? k * (k - 1) / slope : -width;
}

double scene_distance(scene_shape shape, double width, double x, double y)
{
    switch (shape) {
    case SHAPE_HEART:
        return heart_distance(x, y);
    case SHAPE_TRIANGLE:
        return triangle_distance(x, y);
    case SHAPE_SQUARE:
        return square_distance(x, y);
    case SHAPE_BAR:
        return length(fmax(fabs(x) - (1 - width), 0), y) - width;
    case SHAPE_ELLIPSE:
        return ellipse_distance(width, x, y);
    case SHAPE_DISC:
        break;
    }
    return length(x, y) - 1;
}

double scene_period(scene_shape shape)
{
    const double turn = 2 * acos(-1);
    switch (shape) {
    case SHAPE_TRIANGLE:
        return turn / 3;
    case SHAPE_SQUARE:
        return turn / 4;
    case SHAPE_BAR:
    case SHAPE_ELLIPSE:
        return turn / 2;
    case SHAPE_HEART:
    case SHAPE_DISC:
        break;
    }
    return turn;
}
