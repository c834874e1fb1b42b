/* Every number of the estimators that was set and could have been another: one row each, with what
 * it guards. `bench/sensitivity` halves and doubles each one on simulated data; what came of that,
 * and the figures meant below, are in bench/RESULTS.md. Numbers of the mathematics, bounds of
 * rounding, and sizes of blocks stay where they are used.
 *
 * Where a number comes from:
 *
 *     HAND    by hand: not measured before bench/sensitivity
 *     BENDS   by hand on the nine seeds that "x that is not linear in z: quality" names
 *     PAPER   by hand on the seeds that "How the defaults were chosen" names
 *     TIME    bounds time or memory; more would do no harm but that
 *     STATED  usual in the literature
 *
 * tuned_NAME() is a constant to the compiler. Built with LSCM_TUNABLE, which nothing that is
 * installed is, it can be set from the environment (bench/tunable/tuned.c).
 */
#ifndef LSCM_BASE_TUNED_H
#define LSCM_BASE_TUNED_H

#include <stddef.h>

/* clang-format off */
#define TUNED_NUMBERS(REAL, COUNT) \
    /* Which decoder */ \
    REAL(bends_edge, 1.5, BENDS, "x bends where a direction beyond d varies so many times as much as noise can") \
    REAL(bends_share, 1e-6, HAND, ".. and has this share of the variance of x") \
    REAL(linear_explained, 0.995, BENDS, "beyond this share explained, x may be linear with noise that has a structure") \
    REAL(linear_missed, 2, BENDS, ".. and is, where values left out are missed at most so many times as much as by a kernel") \
    /* x as features */ \
    REAL(features_left_out, 1e-7, HAND, "share of the variance of x that its features may leave out") \
    REAL(features_spare, 1.1, HAND, "factor on the edge of noise, which is not sharp") \
    COUNT(principal_rounds, 20, TIME, "rounds of subspace iteration, at most") \
    REAL(principal_still, 1e-6, HAND, "relative change of a variance that has settled") \
    COUNT(units_rounds, 100, TIME, "steps to the noise of columns, at most") \
    REAL(guide_better, 0.8, HAND, "of what the first d directions miss of labels in sets left out: others are taken") \
    REAL(units_far, 10, HAND, "sd of x, beyond which its zero means nothing to a network") \
    REAL(units_still, 1e-3, HAND, "change of the log of its variance that ends them") \
    COUNT(missing_rounds, 200, TIME, "steps of EM that fill x for a first time, at most") \
    REAL(missing_still, 1e-3, HAND, ".. and what moves less than this share of the noise ends them") \
    COUNT(held_out_one_in, 12, BENDS, "one value in so many is shown to no encoder") \
    /* The kernel from x to z */ \
    COUNT(kernel_least_labels, 10, HAND, "labels that a node needs to be encoded") \
    COUNT(kernel_held_one_in, 5, HAND, "one set in so many is held out to choose family and ridge") \
    COUNT(kernel_few_sets, 5, HAND, "with fewer sets, rows are held out in place of sets") \
    REAL(kernel_constant, 0.3, BENDS, "the last coordinate of the biased family, in units of the others' length") \
    COUNT(device_labels, 4000, TIME, "labels from which a device factors their kernel, if one is there") \
    REAL(kernel_dim, 0.01, HAND, "length of a row that has a direction, in units of the median") \
    /* Checks */ \
    REAL(check_chance, 0.003, STATED, "of an alarm where all is well, a check: all of them together stay below 3%") \
    REAL(check_decided, 0.95, STATED, "probability from which a pair of nodes is decided") \
    REAL(check_support, 0.01, STATED, "chance below which rows with do() on a cause speak for its edge") \
    COUNT(check_draws, 24, TIME, "draws whose graphs are tested") \
    COUNT(check_rows, 20000, TIME, "rows that are tested, about") \
    COUNT(check_numbers, 100000, TIME, "numbers of x whose columns are looked at, about") \
    REAL(check_copy, 1e-6, HAND, "part of a column's variance that a copy of it may differ by: a few digits") \
    REAL(check_coarse, 0.25, STATED, "rounding over noise, in variance: half of its sd, as for errors of z") \
    COUNT(check_pairs, 4000000, TIME, "sets times nodes squared to which hidden causes of pairs are looked for") \
    /* The network from z to x */ \
    COUNT(network_narrow_nodes, 24, BENDS, "to so many nodes a hidden layer is narrow") \
    COUNT(network_hidden_narrow, 128, BENDS, "units of a narrow hidden layer") \
    COUNT(network_hidden_wide, 256, BENDS, "units of a wide one") \
    COUNT(network_batch, 512, BENDS, "rows of a step") \
    COUNT(network_few_nodes, 6, BENDS, "to so many nodes, the schedule for few") \
    COUNT(network_some_nodes, 12, BENDS, "to so many, that for some; beyond, that for many") \
    COUNT(network_first_few, 200, BENDS, "steps before the first round, few nodes") \
    COUNT(network_first_some, 300, BENDS, ".. some") \
    COUNT(network_first_many, 400, BENDS, ".. many") \
    COUNT(network_each_few, 60, BENDS, "steps of a round, few nodes") \
    COUNT(network_each, 75, BENDS, ".. more") \
    COUNT(network_rounds_few, 10, BENDS, "rounds, few nodes") \
    COUNT(network_rounds_some, 28, BENDS, ".. some") \
    COUNT(network_rounds_many, 40, BENDS, ".. many") \
    REAL(network_rate, 0.025, BENDS, "length of a step") \
    REAL(network_fall, 1.2, HAND, "the rate falls to 0 with the steps left, times this, at most 1") \
    REAL(network_own_noise, 0.5, HAND, "of the misfit of batches: least noise of x, as rows fit their own noise too") \
    REAL(network_noise_floor, 1e-8, HAND, "least variance of the misfit, in units of x") \
    REAL(network_prior_floor, 1e-3, HAND, "least sd of the kernel's z as a prior, in units of z") \
    REAL(network_unit_floor, 1e-3, HAND, "least length of a row, of the mean") \
    COUNT(network_read_sweeps, 3, HAND, "Gauss-Newton steps when z is read off in the end") \
    COUNT(network_new_sweeps, 8, HAND, ".. and off new x, from the kernel's z") \
    COUNT(pilot_nodes, 12, TIME, "to so many nodes both kinds of network are tried") \
    COUNT(pilot_rounds, 2, BENDS, "rounds of a trial") \
    REAL(pilot_handicap, 1.65, BENDS, "biases are taken where so many times as much is missed without") \
    COUNT(model_draws, 64, HAND, "graphs whose mean model helps to tell z between rounds") \
    COUNT(model_every, 5, TIME, "rounds between two such models, beyond exact graphs") \
    COUNT(model_bends_nodes, 12, TIME, ".. with more nodes it is straight") \
    REAL(model_sigma_floor, 1e-4, HAND, "least sd of a mechanism in them, of that of z") \
    REAL(reach_outer, 0.06, BENDS, "share of the values on either side of a node beyond which z is extrapolated") \
    /* The network of pictures */ \
    REAL(sight_still, 0.1, HAND, "of how often a pixel is drawn on average: one that never changes") \
    REAL(sight_pixels_weight, 1, HAND, "error of pixels drawn, against that of labels") \
    COUNT(sight_warm, 200, STATED, "steps in which the rate rises") \
    COUNT(sight_members, 3, TIME, "networks, whose disagreement tells their errors") \
    COUNT(sight_steps, 6000, TIME, "steps of each, at most") \
    COUNT(sight_trial, 1000, TIME, ".. of one that is tried against a kernel") \
    REAL(sight_trial_gain, 4, HAND, "how much less it misses after all steps than after those, at least") \
    COUNT(sight_batch, 32, HAND, "pictures of a step") \
    COUNT(sight_pixels, 128, TIME, "pixels drawn of each") \
    REAL(sight_rate, 0.007, HAND, "length of a step, of the first size of weights") \
    REAL(sight_unseen, 4, HAND, "sd of a reading, of the usual one, from which it says nothing") \
    REAL(sight_stretch, 3, HAND, "sd of the log of how much faster a reading may go beyond the labels") \
    COUNT(sight_error_rows, 64, TIME, "pictures that tell the noise of x") \
    REAL(sight_decay, 0.03, HAND, "decay of weights, a step of length 1") \
    /* What a row counts */ \
    REAL(gain_medians, 10, BENDS, "median errors that a row's counts at most: misread altogether says nothing of scales") \
    COUNT(leak_rows, 20000, TIME, "rows that tell what leaks, about") \
    REAL(row_ratio, 100, HAND, "errors that go with the size of a row over those that do not, at most") \
    COUNT(row_rounds, 50, HAND, "rounds of its least squares, at most") \
    REAL(row_still, 1e-3, HAND, "relative change that ends them") \
    COUNT(slope_sets, 5, HAND, "sets that tell whether slopes are uneven") \
    COUNT(slope_rows, 8, BENDS, "rows a node that leaks must leave") \
    COUNT(dispersion_draws, 32, HAND, "graphs whose mean model F is of") \
    /* z = a + y B from labels */ \
    REAL(anchor_predicted, 0.5, HAND, "r2 that excuses a missing direction ..") \
    REAL(anchor_hidden, 3, HAND, ".. if its variance elsewhere is at most so many times that of the noise of x") \
    REAL(anchor_chance, 4, HAND, "sd of an F ratio of pure noise that labels must exceed") \
    REAL(anchor_clear, 0.1, HAND, "of the noise of x, beyond what its largest variance can be: a direction") \
    REAL(anchor_vanished, 0.1, HAND, "share of a direction's variance that may be left where do() holds it still") \
    REAL(anchor_gap, 3, HAND, "least ratio of the next share to it") \
    REAL(anchor_freedom, 20, HAND, "degrees of freedom that the other nodes count for in a node's label noise") \
    REAL(anchor_left, 0.99, HAND, "share of a label's variance that may be noise, at most") \
    REAL(anchor_seen, 2, HAND, "standard errors that make actuator noise seen") \
    /* Noise subtracted from scatters */ \
    /* Graphs */ \
    REAL(prior_dof, 3, HAND, "degrees of freedom of the prior of a variance") \
    REAL(effect_least, 1e-3, TIME, "share of a node's score by which an sd of sets' own intercepts is summed over, beyond 8 nodes") \
    REAL(hyper_hopeless, 10, TIME, "nats by which a kind of slab is not looked at, beyond 8 nodes") \
    REAL(hyper_known, 1e-12, TIME, "probability of an edge, or of none, at one scale of the weights that leaves it out of question") \
    REAL(hyper_better, 1, TIME, "nats by which another scale of the weights is better to draw graphs at") \
    COUNT(candidates_nodes, 64, TIME, "to so many nodes, more candidate parents") \
    COUNT(candidates_more, 16, TIME, "candidate parents beyond exact graphs") \
    COUNT(candidates_fewer, 10, TIME, ".. of many nodes") \
    COUNT(candidates_most, 20, TIME, ".. of a node with more neighbours than that") \
    COUNT(screen_near, 24, TIME, "nodes near another one, at least, where there are many") \
    COUNT(screen_rows, 4, HAND, "rows for each near node") \
    COUNT(screen_starts, 8, HAND, "searches for a graph from other orders, with few nodes") \
    COUNT(screen_passes, 60, TIME, "passes of the search for an order, at most") \
    REAL(screen_sure, 10, HAND, "nats that make an edge sure") \
    COUNT(chains, 4, HAND, "chains, unless told") \
    COUNT(order_steps, 500000, TIME, "moves of a chain over orders, for many nodes ..") \
    COUNT(order_sweeps_least, 1000, HAND, ".. but so many for each node") \
    COUNT(order_sweeps_most, 5000, TIME, ".. and no more") \
    COUNT(order_recorded, 500, HAND, "orders recorded per chain, at least") \
    COUNT(order_warm, 16, HAND, "64ths of a run in which chains are heated") \
    COUNT(order_compared, 8, HAND, ".. then chains are compared") \
    COUNT(order_settled, 8, HAND, ".. then settle") \
    REAL(order_coldest, 20, HAND, "beta of the first chain while it warms up") \
    REAL(order_hottest, 0.02, HAND, "beta of the others at first") \
    REAL(order_far, 10, HAND, "nats below the best chain that make one start again ..") \
    REAL(order_far_sd, 5, HAND, ".. and sd of its score") \
    COUNT(class_turns, 4, TIME, "turns of a draw among graphs that no set tells apart, over the square of the nodes") \
    COUNT(walk_first, 60000, TIME, "moves of a walk over graphs to its first draw, or ..") \
    COUNT(walk_moves, 50, TIME, ".. for each node, if these are more, and from there to the next ..") \
    COUNT(walk_draws, 5, HAND, ".. and how many draws it has") \
    REAL(order_doubt, 1e-3, HAND, "p (1 - p) of an edge that is not in doubt") \
    /* Draws of everything together */ \
    REAL(joint_matters, 0.05, HAND, "error of z by the encoder, of what the graph sees, that is sampled") \
    REAL(rows_matter, 0.1, HAND, "error of z by the noise of x, of sigma, that is sampled") \
    COUNT(rows_most, 4000000, TIME, "z that are sampled, at most") \
    COUNT(rows_inside, 20, HAND, "rows for each node in which nothing is clipped, to start from those alone") \
    COUNT(sample_sweeps, 600, HAND, "sweeps of a chain, at least") \
    COUNT(sample_unlabelled, 4, HAND, "times as many where a node has no labels") \
    COUNT(sample_burnt, 3, HAND, "one sweep in so many is thrown away") \
    COUNT(sample_rare, 50, HAND, "one draw in so many: edges less frequent do not count for convergence") \
    REAL(joint_heat, 0.01, HAND, "share of the evidence that is let in at first") \
    REAL(joint_heat_open, 0.3, HAND, ".. where a node has no labels") \
    REAL(joint_heated, 1.25, HAND, "warming up over the time in which it is all let in") \
    REAL(joint_sizes, 7, HAND, "steps of an encoder are 1 to exp of minus this") \
    COUNT(joint_moves, 20, HAND, "moves of a node without labels in a sweep") \
    COUNT(joint_moves_labelled, 4, HAND, ".. with labels") \
    COUNT(missing_settle, 4, HAND, "fits whose draws fill missing entries anew before any count; of observed variables ..") \
    COUNT(missing_settle_observed, 16, HAND, ".. so many: they begin as if independent, and after 4 one edge in 100 was false") \
    COUNT(missing_fills, 8, STATED, ".. and fits that count, each on entries filled anew") \
    COUNT(noise_settle, 4, HAND, "fits that settle where noise is not normal ..") \
    COUNT(noise_rounds, 16, HAND, ".. and fits that count: with 8, 90% intervals of weights cover 87% under Student's t with 3") \
    REAL(bends_least, 5, HAND, "log of how much likelier graphs must be where mechanisms may bend: as much as for laws of noise") \
    REAL(bends_read, 0.01, HAND, ".. for each row and node where z is read off x: errors of encoders bend; of 16 straight models they came to 0.004 at the end, bent ones to 0.015 and more") \
    REAL(bends_passed_over, 10, TIME, ".. and by how much less likely smoothnesses of pairs are that are not looked behind") \
    COUNT(noise_many_nodes, 12, TIME, "with more nodes, fewer rounds over laws of noise") \
    COUNT(noise_fewer, 4, TIME, ".. so many that count") \
    REAL(refute_least, 8, HAND, "log of how much likelier rows with do() on a cause are without its edge: 4 sds at worst") \
    COUNT(refute_draws, 8, TIME, "draws that are asked") \
    COUNT(refute_rows, 6000, TIME, ".. about rows, so many") \
    REAL(noise_least, 5, HAND, "log of how much likelier residuals must be under other laws") \
    COUNT(latent_inner, 3, HAND, "sweeps over censored z for one over the graph") \
    REAL(latent_far, 20, HAND, "nats that a chain must fit worse to go on from the best ..") \
    REAL(latent_far_sd, 2, HAND, ".. and times what that varies") \
    /* Clipping */ \
    COUNT(clip_least, 10, HAND, "entries of a pile, at least") \
    COUNT(clip_times, 4, HAND, "so many times as many as in the next so many widths") \
    REAL(clip_sharp, 64, HAND, "variance over that of errors of a node that is looked at") \
    REAL(clip_share, 1e-3, HAND, "of all entries, that a pile must have") \
    REAL(clip_width, 1e-3, HAND, "width of a pile, of the largest z ..") \
    REAL(clip_width_errors, 8, HAND, ".. and in sd of errors") \
    REAL(clip_bound_errors, 4, HAND, "sd of errors below the clip from which z is censored") \
    REAL(clip_bound, 1e-3, HAND, ".. and share of the clip") \
    /* What held-out sets say */ \
    COUNT(judge_draws, 200, TIME, "rows drawn for each that is left out") \
    COUNT(judge_rows, 2000, TIME, "rows judged, at most") \
    COUNT(judge_least, 10, HAND, ".. and at least") \
    COUNT(judge_parts, 5, TIME, "of the targets, left out at a time; and models made ..") \
    COUNT(judge_nodes, 12, TIME, ".. to so many nodes; one beyond") \
    /* Warnings */ \
    REAL(warn_explained, 0.98, HAND, "share of x that a linear decoder explains, below which others are named") \
    REAL(warn_r2, 0.5, HAND, "r2 of values in sets left out, linear") \
    REAL(warn_held_out, 0.9, HAND, "r2 of held-out values, network") \
    REAL(warn_r_hat, 1.1, STATED, "R-hat of chains that agree") \
    REAL(warn_chance, 1e-3, HAND, "chance of a warning about held-out sets where all is well") \
    REAL(warn_knowledge, 0.005, HAND, "probability of what was told, where nothing is, that contradicts it") \
    REAL(warn_knowledge_row, 0.05, HAND, "log likelihood of a held-out row by which it may cost without a word") \
    REAL(warn_r2_below, 0.1, HAND, "by which r2 of held-out sets may be below 0 by chance, without causes") \
    REAL(warn_coverage, 0.1, HAND, "by which a coverage of 90% may be off by chance") \
    REAL(warn_outside, 0.05, HAND, "share of z beyond the labels") \
    COUNT(warn_sets, 3, HAND, "sets of a node that are few") \
    COUNT(warn_levels, 6, HAND, "distinct values of a node that are few") \
    /* The method of the paper */ \
    COUNT(biols_restarts_few, 16, PAPER, "starts, to 6 nodes") \
    COUNT(biols_restarts_some, 8, PAPER, ".. to 12") \
    COUNT(biols_restarts_many, 4, PAPER, ".. beyond") \
    COUNT(training_window, 250, PAPER, "steps whose mean loss is compared") \
    COUNT(training_cuts, 3, PAPER, "cuts of the rate before training ends") \
    COUNT(training_trial, 1000, PAPER, "steps of a start before the best goes on")

/* clang-format on */

#ifdef LSCM_TUNABLE
#define TUNED_PLACE(name, value, from, guards) TUNED_AT_##name,
enum { TUNED_NUMBERS(TUNED_PLACE, TUNED_PLACE) TUNED_ROWS };
double tuned_number(size_t at);
#define TUNED_VALUE(name, value) tuned_number(TUNED_AT_##name)
#else
#define TUNED_VALUE(name, value) value
#endif

#define TUNED_REAL(name, value, from, guards)                                                      \
    static inline double tuned_##name(void)                                                        \
    {                                                                                              \
        return (double)TUNED_VALUE(name, value);                                                   \
    }
#define TUNED_COUNT(name, value, from, guards)                                                     \
    static inline size_t tuned_##name(void)                                                        \
    {                                                                                              \
        return (size_t)TUNED_VALUE(name, value);                                                   \
    }
TUNED_NUMBERS(TUNED_REAL, TUNED_COUNT)

#endif
