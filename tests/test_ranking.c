/* AUROC by counting all pairs, average precision by trying every threshold. */
#include "scm/metrics/metrics.h"

#include "lcg.h"
#include "testing.h"

static double auroc_of_pairs(const scored *items, size_t n)
{
    double wins = 0;
    double pairs = 0;
    for (size_t p = 0; p < n; p++) {
        for (size_t q = 0; q < n; q++) {
            if (items[p].truth && !items[q].truth) {
                pairs += 1;
                wins += items[p].score > items[q].score    ? 1
                        : items[p].score == items[q].score ? 0.5
                                                           : 0;
            }
        }
    }
    return wins / pairs;
}

/* Precision and recall of {score >= threshold} for each item's score as threshold, highest first;
 * a threshold seen before adds no recall. */
static double precision_over_thresholds(const scored *items, size_t n)
{
    double sum = 0;
    double recall_before = 0;
    double threshold = INFINITY;
    size_t trues = 0;
    for (size_t k = 0; k < n; k++) {
        trues += items[k].truth ? 1 : 0;
    }
    for (;;) {
        double next = -INFINITY;
        for (size_t k = 0; k < n; k++) {
            next = items[k].score < threshold && items[k].score > next ? items[k].score : next;
        }
        if (!(next > -INFINITY)) {
            return sum;
        }
        threshold = next;
        size_t chosen = 0;
        size_t right = 0;
        for (size_t k = 0; k < n; k++) {
            chosen += items[k].score >= threshold ? 1 : 0;
            right += items[k].score >= threshold && items[k].truth ? 1 : 0;
        }
        double recall = (double)right / (double)trues;
        sum += (recall - recall_before) * (double)right / (double)chosen;
        recall_before = recall;
    }
}

static void random_rankings(void **state)
{
    (void)state;
    enum { MOST = 60 };
    lcg g = {7};
    size_t compared = 0;
    for (int round = 0; round < 2000; round++) {
        scored items[MOST];
        scored sorted[MOST];
        size_t n = 2 + lcg_below(&g, MOST - 2);
        size_t trues = 0;
        for (size_t k = 0; k < n; k++) {
            double fine = lcg_normal(&g);
            double coarse = floor(2 * fine); /* many ties */
            items[k].score = round % 2 == 0 ? fine : coarse;
            items[k].truth = lcg_uniform(&g) < 0.3;
            trues += items[k].truth ? 1 : 0;
        }
        memcpy(sorted, items, n * sizeof *items);
        ranking_sort(sorted, n);
        for (size_t k = 1; k < n; k++) {
            assert_true(sorted[k - 1].score >= sorted[k].score);
        }
        if (trues == 0 || trues == n) {
            assert_true(isnan(ranking_auroc(sorted, n)));
            assert_true(isnan(ranking_average_precision(sorted, n)));
            continue;
        }
        assert_near(ranking_auroc(sorted, n), auroc_of_pairs(items, n), 1e-13);
        assert_near(ranking_average_precision(sorted, n), precision_over_thresholds(items, n),
                    1e-13);
        compared++;
    }
    assert_true(compared > 1800);
}

static void rankings_by_hand(void **state)
{
    (void)state;
    /* scores .8 T, .5 F, .5 T, .1 F: wins 1 + 1 + .5 + 1 of 4; AP = 1/2 * 1 + 1/2 * 2/3 */
    scored items[4] = {{0.1, false}, {0.5, true}, {0.8, true}, {0.5, false}};
    ranking_sort(items, 4);
    assert_near(ranking_auroc(items, 4), 3.5 / 4, 1e-15);
    assert_near(ranking_average_precision(items, 4), 0.5 + 1.0 / 3, 1e-15);
    /* all equal: no better than chance, precision is the share of the true */
    scored equal[5] = {{1, true}, {1, false}, {1, false}, {1, false}, {1, false}};
    ranking_sort(equal, 5);
    assert_near(ranking_auroc(equal, 5), 0.5, 1e-15);
    assert_near(ranking_average_precision(equal, 5), 0.2, 1e-15);
}

static void an_empty_class_has_no_score(void **state)
{
    (void)state;
    scored items[2] = {{0.1, true}, {0.5, true}};
    assert_true(isnan(ranking_auroc(items, 2)));
    assert_true(isnan(ranking_average_precision(items, 2)));
    items[0].truth = false;
    items[1].truth = false;
    assert_true(isnan(ranking_auroc(items, 2)));
    assert_true(isnan(ranking_average_precision(items, 2)));
    assert_true(isnan(ranking_auroc(items, 0)));
    assert_true(isnan(ranking_average_precision(items, 0)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_rankings),
        cmocka_unit_test(rankings_by_hand),
        cmocka_unit_test(an_empty_class_has_no_score),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
