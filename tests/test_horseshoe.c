/* The horseshoe prior: its density against a table of 40 digits and against its definition as a
 * scale mixture; its expectation under a Gaussian against a table and central differences.
 *
 * The tables are mpmath's (42 digits): h(u) = log(exp(u) E1(u)) and h'(u); E h(x^2/2), x ~ N(m,
 * s^2), and its derivatives by m and s by tanh-sinh quadrature of h times the differentiated
 * Gaussian, on panels that end at the pole. */
#define _DEFAULT_SOURCE /* M_PI */
#include "testing.h"

#include "base/rng.h"
#include "infer/weights/weights.h"

/* u, h(u), h'(u) */
static const double density_table[][3] = {
    {1e-300, 6.536978965331026474, -1.448858947168742926e+297},
    {1.0000000000000001e-250, 6.354490133731313869, -1.73892159004679e+247},
    {9.9999999999999998e-201, 6.131095617732649333, -2.174197565901244569e+197},
    {1e-150, 5.842995130793191071, -2.900143296010085634e+147},
    {1e-100, 5.436692668131077229, -4.353859141839048852e+97},
    {9.9999999999999997e-61, 4.924190228829076784, -7.268609808012849447e+57},
    {9.9999999999999993e-41, 4.516625139581547032, -1.092583468461076475e+38},
    {1.0000000000000001e-30, 4.22683866678774537, -1.459846829916123811e+28},
    {9.9999999999999995e-21, 3.817151425714284106, -2199035291377091449.0},
    {9.9999999999999998e-17, 3.590829534781003864, -275754461412316.7466},
    {9.9999999999999998e-13, 3.297827677506935302, -36963376623.00840178},
    {1e-10, 3.111229822468937959, -445461376.9809261997},
    {1e-08, 2.881637349740415281, -5604291.579996827002},
    {9.9999999999999995e-07, 2.583114833241954652, -75537.3478416242374},
    {1.0000000000000001e-05, 2.392044477297839111, -9143.254043945091945},
    {0.0001, 2.15571809747652793, -1157.199907005769182},
    {0.001, 1.846543392078830534, -156.781613977168209},
    {0.01, 1.405732079554837832, -23.51874939824926892},
    {0.029999999999999999, 1.11489149563488949, -9.93169536897036853},
    {0.10000000000000001, 0.7004417824948862203, -3.963659695495582972},
    {0.20000000000000001, 0.4010210793119271176, -2.348179727120950811},
    {0.29999999999999999, 0.2009270667530659391, -1.726573622461990332},
    {0.5, -0.08022287204478746405, -1.167057057970623177},
    {0.69999999999999996, -0.2841177388698335029, -0.8979847830753350126},
    {0.90000000000000002, -0.4463664391515724098, -0.7362488535944063473},
    {0.98999999999999999, -0.5101359584037612877, -0.6823410309802425756},
    {1, -0.5169319590020456109, -0.6768750281787008684},
    {1.01, -0.5236737734362670683, -0.671503369254441491},
    {1.2, -0.6425785380690796281, -0.584481114657147436},
    {1.5, -0.8023892880987489162, -0.4872431629857400114},
    {2, -1.017967438628217886, -0.3837818999945846086},
    {3, -1.339091206993297217, -0.2718581206472573636},
    {5, -1.769476530538690214, -0.1735561906324371888},
    {7.5, -2.128421327275620769, -0.1202123961343077327},
    {10, -2.390724371937408408, -0.09214022357202346653},
    {15, -2.769070452895529572, -0.06292044001429247618},
    {20, -3.042435162184236996, -0.04781064637085958688},
    {30, -3.43300578470673985, -0.03231969704502403851},
    {50, -3.931455094946069757, -0.01962212147963606312},
    {100, -4.6150243505053549, -0.009902876670808602481},
    {300, -5.707099299662509681, -0.00332233175699612693},
    {1000, -6.908753783297812015, -0.0009990029870705424182},
    {10000, -9.210440356980514295, -9.999000299870070954e-5},
    {100000, -11.51293546482023275, -9.999900002999870007e-6},
    {1000000, -13.81551155796277411, -9.99999000002999987e-7},
};

/* m, s, value, by m, by s */
static const double expectation_table[][5] = {
    {0, 0.0001, 2.98026053708494425, 0, -1021.04377677404194},
    {0, 0.01, 2.34121841026455908, 0, -19.5719480462420099},
    {0, 0.29999999999999999, 1.24406161006919698, 0, -1.85962262901961563},
    {0, 1, 0.353440367629215485, 0, -0.955351359558439297},
    {0, 3, -0.949814512907710285, 0, -0.471142271495700167},
    {0, 100, -7.27318961895780333, 0, -0.0197383693619594512},
    {0, 100000, -21.0623674610868483, 0, -1.99997344303218122e-5},
    {0.0001, 0.0001, 2.9363301769649187, -753.268082735394348, -313.464358425513211},
    {0.001, 0.0001, 2.63477222440857995, -144.749279743087, 12.6460576555276515},
    {0.01, 0.0001, 2.23289914264661802, -21.4351627201428702, 0.16861904159242889},
    {1, 0.0001, -0.0802228688548983206, -1.16705706219562864, 6.37977833939279348e-5},
    {1000, 0.0001, -13.1223653773983188, -0.00199999600002401979, 1.99998800012005864e-10},
    {100000, 0.0001, -22.3327037495805115, -1.9999999996e-5, 1.99999999880000015e-14},
    {0.5, 0.10000000000000001, 0.618488652521876826, -1.70388360282125676, 0.188696071051760637},
    {0.5, 0.5, 0.613660755035727412, -1.09791904812849421, -0.587129681430335261},
    {2, 0.5, -0.983752618788441547, -0.792465804913950615, 0.145761617030443719},
    {-2, 0.5, -0.983752618788441547, 0.792465804913950615, 0.145761617030443719},
    {1, 1, -0.0682593764706259912, -0.743577069812688714, -0.388279280038335661},
    {3, 1, -1.59670075291687377, -0.61457402483380474, 0.174439367979862506},
    {7, 1, -3.21845318701455898, -0.280243448281438289, 0.0385756977799254703},
    {10, 1, -3.92187264638679232, -0.198060221286726209, 0.0194301599140549645},
    {40, 3, -6.68020758664853841, -0.0502216861271278836, 0.00380032987071879235},
    {0.001, 10, -2.88897812823928876, -1.76935674820427379e-5, -0.176935673707576453},
    {1, 10, -2.89781101029370248, -0.0176380315681967167, -0.175271724887390714},
    {30, 10, -5.97321981053812709, -0.0774939721250093347, 0.0334415817067825693},
    {100, 10, -8.50724416451608727, -0.0202020660479641452, 0.00206189844452076482},
    {100000, 10, -22.3327037395805114, -2.00000001960000058e-5, 2.00000005880000288e-9},
    {1000, 300, -13.0131591173537911, -0.00227197850701334458, 0.00090672924697229707},
    {20000, 5000, -19.0434266863228352, -0.000108158374886233235, 3.26335377916298179e-5},
    {100000, 100000, -21.9157282203138985, -1.44954081035633048e-5, -5.50443081895938288e-6},
    {1, 100000, -21.062367461186847, -1.99997344296551588e-10, -1.99997344283218521e-5},
    {30000, 100000, -21.1510323375402161, -5.8231225908433499e-6, -1.82528093386300194e-5},
    {0.001, 0.29999999999999999, 1.24405851070263285, -0.00619872415979013377,
     -1.85960648579340803},
    {0.10000000000000001, 2, -0.411248536041809297, -0.0311881910961636759, -0.622900241474568673},
    {12, 2, -4.26247046990172601, -0.169087143667829202, 0.0290271285639280172},
    {18, 2, -5.0813649334542596, -0.111810161347155645, 0.0125817392031092533},
};

enum {
    DENSITIES = sizeof density_table / sizeof *density_table,
    EXPECTATIONS = sizeof expectation_table / sizeof *expectation_table,
};

static const double scales[] = {1, 0.0123, 8e-4, 20};

static double log_scale(double tau)
{
    return log(tau * sqrt(2 * M_PI * M_PI * M_PI));
}

static void test_density(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof scales / sizeof *scales; k++) {
        double tau = scales[k];
        horseshoe prior;
        horseshoe_init(&prior, tau);
        for (size_t i = 0; i < DENSITIES; i++) {
            const double *row = density_table[i];
            double x = sqrt(2 * row[0]);
            double value = row[1] - log_scale(tau);
            double slope = row[2] * x / tau;
            double got;
            assert_near(horseshoe_log_density(&prior, x * tau, &got), value,
                        4e-15 * (1 + fabs(value)));
            assert_near(got / slope, 1, 1e-14);
            assert_near(horseshoe_log_density(&prior, -x * tau, &got), value,
                        4e-15 * (1 + fabs(value)));
            assert_near(got / slope, -1, 1e-14);
        }
    }
}

/* p(w) = int N(w; 0, (tau lambda)^2) 2 / (pi (1 + lambda^2)) d lambda: in log lambda the
 * trapezoidal rule is exact to many digits. */
static void test_density_is_the_mixture(void **state)
{
    static const double tau = 0.7;
    horseshoe prior;

    (void)state;
    horseshoe_init(&prior, tau);
    for (int i = -10; i <= 10; i++) {
        double w = pow(2, i);
        double sum = 0;
        double step = 0.05;
        for (int k = -800; k < 800; k++) {
            double lambda = exp(k * step);
            double z = w / (tau * lambda);
            sum += step * exp(-z * z / 2) / (sqrt(2 * M_PI) * tau) * 2 /
                   (M_PI * (1 + lambda * lambda));
        }
        assert_near(horseshoe_log_density(&prior, w, NULL), log(sum), 1e-12);
    }
}

static void test_density_at_the_edges(void **state)
{
    horseshoe prior;
    double slope = 0;

    (void)state;
    horseshoe_init(&prior, 1);
    assert_true(horseshoe_log_density(&prior, 0, NULL) == INFINITY);
    assert_true(isnan(horseshoe_log_density(&prior, NAN, &slope)));
    assert_true(isnan(slope));
    /* h(u) = log(-euler - log u) far below the smallest u */
    assert_near(horseshoe_log_density(&prior, 1e-305, NULL) + prior.log_scale,
                log(2 * 305 * log(10) + log(2) - 0.57721566490153286), 1e-14);
    assert_near(horseshoe_log_density(&prior, 1e100, &slope) + prior.log_scale,
                -200 * log(10) + log(2), 1e-12);
    assert_near(slope * 1e100, -2, 1e-14);
}

static void test_expectation(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof scales / sizeof *scales; k++) {
        double tau = scales[k];
        horseshoe prior;
        horseshoe_init(&prior, tau);
        for (size_t i = 0; i < EXPECTATIONS; i++) {
            double m = expectation_table[i][0], s = expectation_table[i][1];
            double value = expectation_table[i][2] - log_scale(tau);
            double by_m = expectation_table[i][3], by_s = expectation_table[i][4];
            double got_m, got_s;
            assert_near(horseshoe_expect(&prior, m * tau, s * tau, &got_m, &got_s), value, 1e-12);
            double r2 = m * m + s * s;
            assert_near(got_m * tau, by_m, 2e-11 * fabs(m) / r2);
            assert_near(got_s * tau, by_s, 1e-9 * s / r2);
        }
    }
}

/* Without spread the expectation is the density: the mixture of Gaussians re-derives it. */
static void test_expectation_without_spread(void **state)
{
    horseshoe prior;

    (void)state;
    horseshoe_init(&prior, 0.3);
    for (int i = -150; i < 200; i++) {
        double w = pow(10, i / 10.0);
        double slope, by_mean, by_sd;
        double value = horseshoe_log_density(&prior, w, &slope);
        assert_near(horseshoe_expect(&prior, w, 0, &by_mean, &by_sd), value, 2e-12);
        assert_near(by_mean / slope, 1, 1e-9);
        assert_near(by_sd, 0, 0);
    }
}

static double expect(const horseshoe *prior, double mean, double sd)
{
    return horseshoe_expect(prior, mean, sd, NULL, NULL);
}

/* A central difference of fourth order, by the one of the two steps that is not 0. */
static double difference(const horseshoe *prior, double mean, double sd, double mean_by,
                         double sd_by)
{
    double near =
        expect(prior, mean + mean_by, sd + sd_by) - expect(prior, mean - mean_by, sd - sd_by);
    double far = expect(prior, mean + 2 * mean_by, sd + 2 * sd_by) -
                 expect(prior, mean - 2 * mean_by, sd - 2 * sd_by);
    return (8 * near - far) / (12 * (mean_by + sd_by));
}

static void test_expectation_derivatives(void **state)
{
    static const double tau = 0.05;
    horseshoe prior;

    (void)state;
    horseshoe_init(&prior, tau);
    for (int i = 0; i < 17 * 15; i++) {
        double mean = tau * pow(10, -4 + i % 17 * 0.57);
        double sd = tau * pow(10, -4 + (double)(i / 17) * 0.63);
        double size = sqrt(mean * mean + sd * sd);
        double by_mean, by_sd;
        horseshoe_expect(&prior, mean, sd, &by_mean, &by_sd);
        /* what rounding of the value leaves of a difference is measured by the step */
        assert_near(difference(&prior, mean, sd, 2e-3 * size, 0), by_mean,
                    1e-6 * fabs(by_mean) + 1e-10 / size);
        assert_near(difference(&prior, mean, sd, 0, 2e-3 * sd), by_sd,
                    1e-6 * fabs(by_sd) + 1e-10 / sd);
    }
}

/* Where the sum starts changes with the octave of mean^2 + sd^2: no step may show there. */
static void test_expectation_has_no_steps(void **state)
{
    horseshoe prior;

    (void)state;
    horseshoe_init(&prior, 1);
    for (int octave = -26; octave <= 34; octave++) {
        for (int k = 0; k <= 20; k++) {
            double angle = k * 0.0785;
            double size = sqrt(ldexp(1, octave));
            double m = size * sin(angle), s = size * cos(angle);
            double low_m, low_s, high_m, high_s;
            double low = horseshoe_expect(&prior, m * (1 - 1e-13), s * (1 - 1e-13), &low_m, &low_s);
            double high =
                horseshoe_expect(&prior, m * (1 + 1e-13), s * (1 + 1e-13), &high_m, &high_s);
            assert_near(low, high, 2e-12);
            assert_near(low_m * size, high_m * size, 1e-11);
            assert_near(low_s * size, high_s * size, 1e-11);
        }
    }
}

static void test_expectation_is_the_mean(void **state)
{
    static const double cases[][2] = {{0, 1}, {0.5, 0.2}, {-3, 2}, {40, 30}};
    enum { DRAWS = 20000 };
    horseshoe prior;

    (void)state;
    horseshoe_init(&prior, 0.4);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double sum = 0, square = 0;
        for (uint64_t k = 0; k < DRAWS; k++) {
            double w = cases[i][0] + cases[i][1] * rng_normal((rng){7, i}, k);
            double value = horseshoe_log_density(&prior, w, NULL);
            sum += value / DRAWS;
            square += value * value / DRAWS;
        }
        double error = sqrt((square - sum * sum) / DRAWS);
        assert_near(expect(&prior, cases[i][0], cases[i][1]), sum, 4 * error);
    }
}

static void test_expectation_at_the_edges(void **state)
{
    horseshoe prior;
    double by_mean = 0, by_sd = 0;

    (void)state;
    horseshoe_init(&prior, 1);
    static const double outside[][2] = {{NAN, 1},      {1, NAN},   {0, 0},    {INFINITY, 1},
                                        {1, INFINITY}, {0, 1e-17}, {0, 2e22}, {1e300, 1}};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        assert_true(
            isnan(horseshoe_expect(&prior, outside[i][0], outside[i][1], &by_mean, &by_sd)));
        assert_true(isnan(by_mean) && isnan(by_sd));
    }
    /* the ends of the range: E log log 1/|x| varies slowly, E -2 log |x| is known */
    assert_near(expect(&prior, 0, 1e22),
                -prior.log_scale + log(2) - 2 * log(1e22) + 0.57721566490153286 + log(2), 1e-11);
    assert_true(expect(&prior, 0, 1e-16) > expect(&prior, 0, 1e-15));
}

static void test_scale(void **state)
{
    (void)state;
    assert_near(horseshoe_scale(20500, 20, 1), 2 / 17.0 / sqrt(20500), 1e-18);
    assert_near(horseshoe_scale(2500, 5, 1), 0.02, 1e-17);
    /* d - 1 = 2 e, and less: as many edges as there can be */
    assert_near(horseshoe_scale(2500, 5, 2), 0.1, 1e-17);
    assert_near(horseshoe_scale(2500, 5, 4), 0.1, 1e-17);
    assert_near(horseshoe_scale(2500, 6, 2.5), 1 / 12.0, 1e-17);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_density),
        cmocka_unit_test(test_density_is_the_mixture),
        cmocka_unit_test(test_density_at_the_edges),
        cmocka_unit_test(test_expectation),
        cmocka_unit_test(test_expectation_without_spread),
        cmocka_unit_test(test_expectation_derivatives),
        cmocka_unit_test(test_expectation_has_no_steps),
        cmocka_unit_test(test_expectation_is_the_mean),
        cmocka_unit_test(test_expectation_at_the_edges),
        cmocka_unit_test(test_scale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
