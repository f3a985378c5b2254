/* Levenshtein's distance of pairs of texts, by the bits of Myers and Hyyrö: 64 rows of the table at once. */

#include "kernel.h"

const char *kernel_sources(void) { return KERNEL_SOURCES; }

#define SYMBOLS 256
#define LONGEST (1 << 20) /* characters of the shorter text: the bits of all symbols take 32 bytes for each */

/* The code point at `at`, and the next one's place. What is not UTF-8 is some number: it is only compared. */
static uint32_t code_point(const uint8_t **at, const uint8_t *end) {
    const uint8_t *from = *at;
    int more = *from < 0xC0 ? 0 : *from < 0xE0 ? 1 : *from < 0xF0 ? 2 : 3;
    if (end - from <= more) more = 0;
    uint32_t point = more ? *from & (0x3Fu >> more) : *from;
    for (int i = 1; i <= more; i++) point = point << 6 | (from[i] & 0x3Fu);
    *at = from + 1 + more;
    return point;
}

/* Characters as symbols of one byte: those of ASCII are themselves, others get a number from 128 on. */
typedef struct {
    uint32_t points[SYMBOLS / 2];
    int64_t size;
} alphabet;

/* The number of symbols, or -1: there are too many different characters. */
static int64_t to_symbols(alphabet *others, const uint8_t *at, const uint8_t *end, uint8_t *symbols) {
    uint8_t *to = symbols;
    while (at < end) {
        uint64_t eight;
        if (end - at >= 8 && (memcpy(&eight, at, 8), (eight & 0x8080808080808080u) == 0)) {
            memcpy(to, &eight, 8);
            at += 8, to += 8;
            continue;
        }
        if (*at < 0x80) {
            *to++ = *at++;
            continue;
        }
        uint32_t point = code_point(&at, end);
        int64_t number = 0;
        while (number < others->size && others->points[number] != point) number++;
        if (number == SYMBOLS / 2) return -1;
        if (number == others->size) others->points[others->size++] = point;
        *to++ = (uint8_t)(SYMBOLS / 2 + number);
    }
    return to - symbols;
}

/* The differences of 64 rows of a column to the rows above, as bits: `up` where it is +1, `down` where it is -1. */
typedef struct {
    uint64_t up, down;
} rows;

typedef struct {
    uint64_t *bits; /* for each symbol, `blocks` of bits: where the pattern has it */
    rows *column;
} tables;

/* The same rows in the next column. `above` is the difference between the two columns in the row above these, and then
 * that in the last of them. */
static inline rows next(uint64_t equal, rows of, rows *above) {
    uint64_t matched = equal | above->down;
    uint64_t zero = (((matched & of.up) + of.up) ^ of.up) | matched | of.down;
    uint64_t right_up = of.down | ~(zero | of.up), right_down = zero & of.up;
    uint64_t up = right_up << 1 | above->up, down = right_down << 1 | above->down;
    *above = (rows){right_up >> 63, right_down >> 63};
    return (rows){down | ~(zero | up), up & zero};
}

/* Three columns at a time, each a block behind the one before: they don't wait for each other, so that the processor
 * works on all of them at once. */
static void three_columns(const uint64_t *bits[3], rows *column, int64_t blocks) {
    rows above[3] = {{1, 0}, {1, 0}, {1, 0}};
    rows first = next(bits[0][0], column[0], above), second = first;
    if (blocks > 1) {
        second = next(bits[1][0], first, above + 1);
        first = next(bits[0][1], column[1], above);
        for (int64_t block = 2; block < blocks; block++) {
            column[block - 2] = next(bits[2][block - 2], second, above + 2);
            second = next(bits[1][block - 1], first, above + 1);
            first = next(bits[0][block], column[block], above);
        }
        column[blocks - 2] = next(bits[2][blocks - 2], second, above + 2);
    }
    second = next(bits[1][blocks - 1], first, above + 1);
    column[blocks - 1] = next(bits[2][blocks - 1], second, above + 2);
}

/* A path through a cell costs no less than its distance from the diagonals of both corners, and the best path costs no
 * more than the text's length. So a column is needed only down to half the pattern below the one diagonal, and only from
 * half of it above the other. Rows that are not yet needed have the differences of the first column, those that are no
 * longer needed keep theirs, and above a column's first row the difference is +1: all no less than the true ones. */
static void columns(tables of, int64_t size, const uint8_t *text, int64_t length) {
    int64_t blocks = (size + 63) / 64;
    for (int64_t at = 0, count = 3; at < length; at += count) {
        if (length - at < 3) count = 1;
        int64_t from = at - length + size / 2 - 1, to = (at + count + size / 2 + 1) / 64 + 1;
        int64_t skipped = from > 0 ? from / 64 : 0, needed = (to < blocks ? to : blocks) - skipped;
        const uint64_t *bits[3];
        for (int64_t i = 0; i < count; i++) bits[i] = of.bits + text[at + i] * blocks + skipped;
        rows *column = of.column + skipped, above = {1, 0};
        if (count == 3) three_columns(bits, column, needed);
        for (int64_t block = 0; count == 1 && block < needed; block++)
            column[block] = next(bits[0][block], column[block], &above);
    }
}

/* The distance of a pattern, which is not empty, and a text: the length of the text, and the differences below it. */
static int64_t distance(tables of, const uint8_t *pattern, int64_t size, const uint8_t *text, int64_t length) {
    int64_t blocks = (size + 63) / 64, sum = length;
    for (int64_t i = 0; i < size; i++) of.bits[pattern[i] * blocks + i / 64] |= (uint64_t)1 << (i & 63);
    for (int64_t block = 0; block < blocks; block++) of.column[block] = (rows){~(uint64_t)0, 0};
    columns(of, size, text, length);
    for (int64_t block = 0; block < blocks; block++) {
        uint64_t own = block + 1 < blocks || size % 64 == 0 ? ~(uint64_t)0 : ((uint64_t)1 << size % 64) - 1;
        sum += __builtin_popcountll(of.column[block].up & own) - __builtin_popcountll(of.column[block].down & own);
    }
    for (int64_t i = 0; i < size; i++) of.bits[pattern[i] * blocks + i / 64] = 0;
    return sum;
}

/* Without what both begin and end with; the shorter one is the pattern. */
static int64_t distance_of(tables of, const uint8_t *one, int64_t size, const uint8_t *other, int64_t length) {
    while (size && length && *one == *other) one++, other++, size--, length--;
    while (size && length && one[size - 1] == other[length - 1]) size--, length--;
    if (size == 0 || length == 0) return size + length;
    return size <= length ? distance(of, one, size, other, length) : distance(of, other, length, one, size);
}

static int64_t longest(const int64_t *offsets, int64_t texts) {
    int64_t most = 0;
    for (int64_t text = 0; text < texts; text++)
        if (offsets[text + 1] - offsets[text] > most) most = offsets[text + 1] - offsets[text];
    return most;
}

/* -1 for a pair that is too long, or has too many different characters. */
int64_t pair_distances(const uint8_t *data, const int64_t *offsets, const uint8_t *other_data,
                       const int64_t *other_offsets, int64_t pairs, int64_t *distances) {
    int64_t one = longest(offsets, pairs), other = longest(other_offsets, pairs), status = -1;
    int64_t shorter = one < other ? one : other, blocks = ((shorter < LONGEST ? shorter : LONGEST) + 63) / 64 + 1;
    uint8_t *symbols = malloc((size_t)one + 1), *others = malloc((size_t)other + 1);
    tables of = {calloc((size_t)blocks * SYMBOLS, sizeof(uint64_t)), malloc((size_t)blocks * sizeof(rows))};
    if (symbols != NULL && others != NULL && of.bits != NULL && of.column != NULL) {
        for (int64_t pair = 0; pair < pairs; pair++) {
            alphabet letters = {.size = 0};
            int64_t size = to_symbols(&letters, data + offsets[pair], data + offsets[pair + 1], symbols);
            int64_t length = size < 0 ? -1
                                      : to_symbols(&letters, other_data + other_offsets[pair],
                                                   other_data + other_offsets[pair + 1], others);
            int fits = length >= 0 && (size < length ? size : length) <= LONGEST;
            distances[pair] = fits ? distance_of(of, symbols, size, others, length) : -1;
        }
        status = 0;
    }
    free(symbols), free(others), free(of.bits), free(of.column);
    return status;
}
