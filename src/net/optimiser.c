#include "net/optimiser.h"

optimiser_settings optimiser_adam(void)
{
    return (optimiser_settings){.belief = false, .b1 = 0.9, .b2 = 0.999, .outside = 1e-8};
}

optimiser_settings optimiser_adabelief(void)
{
    return (optimiser_settings){
        .belief = true, .b1 = 0.9, .b2 = 0.999, .inside = 1e-8, .outside = 1e-8};
}
