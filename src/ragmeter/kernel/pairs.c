/* Pairs of sequences of ids: how many items they share, in which order, and how often. A table with a place for each id
 * takes the part of sorting; after each pair only the places that it used are set back, so that time stays linear. */

#include "kernel.h"

/* The two sides of a pair. */
typedef struct {
    const int64_t *reference, *answer;
    int64_t n_reference, n_answer;
} sides;

static sides sides_of(const int64_t *ids, const int64_t *starts, int64_t pairs, int64_t pair) {
    const int64_t *other = starts + pairs;
    return (sides){ids + starts[pair], ids + other[pair], starts[pair + 1] - starts[pair],
                   other[pair + 1] - other[pair]};
}

static int64_t longest(const int64_t *starts, int64_t texts) {
    int64_t most = 0;
    for (int64_t text = 0; text < texts; text++)
        if (starts[text + 1] - starts[text] > most) most = starts[text + 1] - starts[text];
    return most;
}

static void *table(int64_t places, size_t size) { return calloc((size_t)places + 1, size); }

/* How many items the sides share, duplicates counted. */
int64_t pair_overlaps(const int64_t *ids, const int64_t *starts, int64_t pairs, int64_t n_ids, int64_t *overlaps) {
    int64_t *left = table(n_ids, sizeof(int64_t));
    if (left == NULL) return -1;
    for (int64_t pair = 0; pair < pairs; pair++) {
        sides of = sides_of(ids, starts, pairs, pair);
        int64_t shared = 0;
        for (int64_t i = 0; i < of.n_reference; i++) left[of.reference[i]]++;
        for (int64_t i = 0; i < of.n_answer; i++)
            if (left[of.answer[i]] > 0) left[of.answer[i]]--, shared++;
        for (int64_t i = 0; i < of.n_reference; i++) left[of.reference[i]] = 0;
        overlaps[pair] = shared;
    }
    free(left);
    return 0;
}

typedef struct {
    int64_t reference, answer;
} counts;

/* Five sums over the distinct items of each pair, from their counts r and a in the two sides: of r a, of r r and of a a,
 * and of the last two over the items of both sides. A square grows by 2 r + 1 when r grows by 1. */
int64_t pair_terms(const int64_t *ids, const int64_t *starts, int64_t pairs, int64_t n_ids, int64_t *terms) {
    counts *of_id = table(n_ids, sizeof(counts));
    if (of_id == NULL) return -1;
    for (int64_t pair = 0; pair < pairs; pair++, terms += 5) {
        sides of = sides_of(ids, starts, pairs, pair);
        memset(terms, 0, 5 * sizeof(int64_t));
        for (int64_t i = 0; i < of.n_reference; i++) terms[1] += 2 * of_id[of.reference[i]].reference++ + 1;
        for (int64_t i = 0; i < of.n_answer; i++) {
            counts *item = of_id + of.answer[i];
            int64_t more = 2 * item->answer + 1;
            terms[0] += item->reference;
            terms[2] += more;
            if (item->reference) {
                terms[4] += more;
                if (item->answer == 0) terms[3] += item->reference * item->reference;
            }
            item->answer++;
        }
        for (int64_t i = 0; i < of.n_reference; i++) of_id[of.reference[i]] = (counts){0, 0};
        for (int64_t i = 0; i < of.n_answer; i++) of_id[of.answer[i]] = (counts){0, 0};
    }
    free(of_id);
    return 0;
}

/* Match unmatched equal items from the last backwards. partner[i] is 1 + the item of the reference that the answer's
 * item i is matched with, or 0. The unmatched items of the reference with the same id are a list: its head by id, then
 * `before`. */
static void match(sides of, int64_t *heads, int64_t *before, uint8_t *used, int64_t *partner) {
    for (int64_t i = 0; i < of.n_reference; i++)
        if (!used[i]) before[i] = heads[of.reference[i]], heads[of.reference[i]] = i + 1;
    for (int64_t i = of.n_answer - 1; i >= 0; i--) {
        int64_t last = heads[of.answer[i]];
        if (partner[i] || last == 0) continue;
        partner[i] = last;
        used[last - 1] = 1;
        heads[of.answer[i]] = before[last - 1];
    }
    for (int64_t i = 0; i < of.n_reference; i++) heads[of.reference[i]] = 0;
}

/* METEOR's alignment, by word and then by stem: how many items are matched, and in how many runs that are adjacent on
 * both sides. */
int64_t pair_alignments(const int64_t *words, const int64_t *stems, const int64_t *starts, int64_t pairs,
                        int64_t n_words, int64_t n_stems, int64_t *matches, int64_t *runs) {
    int64_t most = longest(starts, 2 * pairs), status = -1;
    int64_t *heads = table(n_words > n_stems ? n_words : n_stems, sizeof(int64_t));
    int64_t *before = table(most, sizeof(int64_t)), *partner = table(most, sizeof(int64_t));
    uint8_t *used = table(most, 1);
    if (heads != NULL && before != NULL && partner != NULL && used != NULL) {
        for (int64_t pair = 0; pair < pairs; pair++) {
            sides of = sides_of(words, starts, pairs, pair);
            memset(used, 0, (size_t)of.n_reference);
            memset(partner, 0, (size_t)of.n_answer * sizeof(int64_t));
            match(of, heads, before, used, partner);
            if (stems != words) match(sides_of(stems, starts, pairs, pair), heads, before, used, partner);
            matches[pair] = runs[pair] = 0;
            for (int64_t i = 0; i < of.n_answer; i++) {
                int64_t adjacent = i > 0 && partner[i - 1] && partner[i] == partner[i - 1] + 1;
                matches[pair] += partner[i] > 0;
                runs[pair] += partner[i] > 0 && !adjacent;
            }
        }
        status = 0;
    }
    free(heads), free(before), free(partner), free(used);
    return status;
}

#define LONGEST 4096 /* items of the shorter side: the bits of each distinct one take an eighth of this, in bytes */

/* The longest common subsequence of two sides, by Hyyrö's bits: a zero bit of `row` for each item of the shorter side
 * that the subsequence has. numbers[id] is 1 + the number of the item's bits among `bits`. */
static int64_t subsequence(sides of, int64_t *numbers, uint64_t *bits, uint64_t *row) {
    int64_t blocks = (of.n_reference + 63) / 64, distinct = 0, length = 0;
    for (int64_t i = 0; i < of.n_reference; i++) {
        int64_t *number = numbers + of.reference[i];
        if (*number == 0) {
            *number = ++distinct;
            memset(bits + (distinct - 1) * blocks, 0, (size_t)blocks * sizeof(uint64_t));
        }
        bits[(*number - 1) * blocks + i / 64] |= (uint64_t)1 << (i & 63);
    }
    memset(row, 0xFF, (size_t)blocks * sizeof(uint64_t));
    for (int64_t i = 0; i < of.n_answer; i++) {
        int64_t number = numbers[of.answer[i]];
        uint64_t carry = 0;
        for (int64_t block = 0; number && block < blocks; block++) {
            uint64_t before = row[block], both = before & bits[(number - 1) * blocks + block];
            uint64_t half = before + carry, sum = half + both;
            carry = (half < carry) | (sum < both);
            row[block] = sum | (before - both);
        }
    }
    for (int64_t block = 0; block < blocks; block++) length += __builtin_popcountll(~row[block]);
    for (int64_t i = 0; i < of.n_reference; i++) numbers[of.reference[i]] = 0;
    return length;
}

/* -1 for a pair whose shorter side is too long. */
int64_t pair_subsequences(const int64_t *ids, const int64_t *starts, int64_t pairs, int64_t n_ids,
                          int64_t *lengths) {
    int64_t most = longest(starts, 2 * pairs), status = -1;
    if (most > LONGEST) most = LONGEST;
    int64_t blocks = (most + 63) / 64;
    int64_t *numbers = table(n_ids, sizeof(int64_t));
    uint64_t *bits = malloc((size_t)(most * blocks + 1) * sizeof(uint64_t)), *row = table(blocks, sizeof(uint64_t));
    if (numbers != NULL && bits != NULL && row != NULL) {
        for (int64_t pair = 0; pair < pairs; pair++) {
            sides of = sides_of(ids, starts, pairs, pair);
            if (of.n_reference > of.n_answer)
                of = (sides){of.answer, of.reference, of.n_answer, of.n_reference};
            lengths[pair] = of.n_reference > LONGEST ? -1 : subsequence(of, numbers, bits, row);
        }
        status = 0;
    }
    free(numbers), free(bits), free(row);
    return status;
}
