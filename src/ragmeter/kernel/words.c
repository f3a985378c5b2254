/* Words: texts of UTF-8 to the ids of their words. What a word is, metrics/normalize.py says; metrics/splitting.py does
 * the same over arrays, and is what this is tested against. No text is trusted to be valid UTF-8: nothing is read
 * beyond its end. */

#include "kernel.h"

/* ---- a vocabulary: distinct texts, numbered in the order of their first occurrence ---- */

typedef struct {
    uint64_t key;    /* a text of at most eight bytes itself, or the hash of a longer one */
    uint32_t number; /* the text's id + 1; 0 is an empty slot */
    uint32_t length; /* its last 32 bits */
} slot;

struct vocabulary {
    uint64_t seed;  /* secret, so that nobody can write texts whose hashes collide */
    uint8_t *bytes; /* all texts, one after the other */
    int64_t room;
    int64_t *ends; /* where each text ends in them; ends[0] is 0, before the first text */
    int64_t size, ends_room;
    slot *slots; /* open addressing, at most half full */
    uint64_t mask;
};

static uint64_t mixed(uint64_t a, uint64_t b) {
    __uint128_t product = (__uint128_t)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Up to eight bytes as a number. There must be eight that can be read. */
static inline uint64_t head_of(const uint8_t *text, int64_t length) {
    _Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the first byte is the lowest");
    uint64_t eight;
    memcpy(&eight, text, 8);
    return length >= 8 ? eight : eight & (((uint64_t)1 << 8 * length) - 1);
}

/* What a text's slot has as its key; `head` is its first eight bytes. */
static inline uint64_t key_of(const uint8_t *text, int64_t length, uint64_t head, uint64_t seed) {
    if (length <= 8) return head;
    uint64_t hash = seed ^ (uint64_t)length;
    for (; length > 0; length -= 8, text += 8) hash = mixed(hash ^ head_of(text, length), 0x9e3779b97f4a7c15u);
    return hash;
}

/* Where the search for a key begins. */
static inline uint64_t place_of(uint64_t key, int64_t length, uint64_t seed) {
    return mixed(key ^ seed, 0xe7037ed1a0b428dbu ^ (uint64_t)length);
}

vocabulary *vocabulary_new(uint64_t seed) {
    vocabulary *made = calloc(1, sizeof(vocabulary));
    if (made == NULL) return NULL;
    made->seed = seed;
    made->mask = 1023;
    made->room = 8192;
    made->ends_room = 512;
    made->slots = calloc(made->mask + 1, sizeof(slot));
    made->bytes = malloc((size_t)made->room);
    made->ends = calloc((size_t)made->ends_room + 1, sizeof(int64_t));
    if (made->slots != NULL && made->bytes != NULL && made->ends != NULL) return made;
    vocabulary_free(made);
    return NULL;
}

void vocabulary_free(vocabulary *all) {
    if (all == NULL) return;
    free(all->slots);
    free(all->bytes);
    free(all->ends);
    free(all);
}

int64_t vocabulary_size(const vocabulary *all) { return all->size; }

const int64_t *vocabulary_ends(const vocabulary *all) { return all->ends; }

const uint8_t *vocabulary_bytes(const vocabulary *all) { return all->bytes; }

/* Room for so many more bytes after the last text, and eight that are read with them. */
static int reserve(vocabulary *all, int64_t more) {
    int64_t needed = all->ends[all->size] + more + 8;
    if (needed <= all->room) return 1;
    uint8_t *bytes = realloc(all->bytes, (size_t)(2 * needed));
    if (bytes == NULL) return 0;
    all->bytes = bytes;
    all->room = 2 * needed;
    return 1;
}

static int grow(vocabulary *all) {
    uint64_t mask = 2 * all->mask + 1;
    slot *slots = calloc(mask + 1, sizeof(slot));
    int64_t *ends = realloc(all->ends, ((size_t)mask / 2 + 2) * sizeof(int64_t));
    if (ends != NULL) {
        all->ends = ends;
        all->ends_room = (int64_t)mask / 2 + 1;
    }
    if (slots == NULL || ends == NULL) {
        free(slots);
        return 0;
    }
    for (uint64_t old = 0; old <= all->mask; old++) {
        slot text = all->slots[old];
        if (text.number == 0) continue;
        uint64_t place = place_of(text.key, text.length, all->seed) & mask;
        while (slots[place].number) place = (place + 1) & mask;
        slots[place] = text;
    }
    free(all->slots);
    all->slots = slots;
    all->mask = mask;
    return 1;
}

/* Whether a text in the vocabulary is this one. */
static inline int is_same(const vocabulary *all, slot known, uint64_t key, const uint8_t *text, int64_t length) {
    if (known.key != key || known.length != (uint32_t)length) return 0;
    if (length <= 8) return 1;
    int64_t id = (int64_t)known.number - 1, begin = all->ends[id];
    return all->ends[id + 1] - begin == length && memcmp(all->bytes + begin, text, (size_t)length) == 0;
}

/* The id of the text that was written behind the last one; it stays there if it is new. -1: no memory. */
static int64_t id_of_last(vocabulary *all, int64_t length, uint64_t head) {
    const uint8_t *text = all->bytes + all->ends[all->size];
    uint64_t key = key_of(text, length, head, all->seed);
    uint64_t place = place_of(key, (uint32_t)length, all->seed) & all->mask;
    for (; all->slots[place].number; place = (place + 1) & all->mask)
        if (is_same(all, all->slots[place], key, text, length)) return (int64_t)all->slots[place].number - 1;
    if (all->size >= INT32_MAX) return -1;
    int64_t id = all->size++;
    all->ends[id + 1] = all->ends[id] + length;
    all->slots[place] = (slot){key, (uint32_t)id + 1, (uint32_t)length};
    if ((uint64_t)all->size * 2 > all->mask && !grow(all)) return -1;
    return id;
}

int64_t vocabulary_add(vocabulary *all, const uint8_t *data, const int64_t *offsets, int64_t texts, int64_t *ids) {
    for (int64_t text = 0; text < texts; text++) {
        int64_t length = offsets[text + 1] - offsets[text];
        if (!reserve(all, length)) return -1;
        uint8_t *target = all->bytes + all->ends[all->size];
        memcpy(target, data + offsets[text], (size_t)length);
        ids[text] = id_of_last(all, length, head_of(target, length));
        if (ids[text] < 0) return -1;
    }
    return 0;
}

/* ---- splitting ---- */

enum { DIGIT, LETTER, UNDERSCORE, APOSTROPHE, SEPARATOR, MINUS, SPACE, OPENING, OTHER, FOREIGN }; /* as in metrics/splitting.py */

typedef struct {
    vocabulary *words;
    const uint8_t *kinds, *folded, *wide_spaces;
    int64_t *ids; /* the next word's */
} splitter;

/* Number the word that was written behind the last one of the vocabulary. */
static inline int number_word(splitter *to, int64_t length, uint64_t head) {
    *to->ids = id_of_last(to->words, length, head);
    return *to->ids++ >= 0;
}

/* Whether this byte of ASCII joins its neighbours: don't, 1923'te, 3.5. Before the first and after the last byte there
 * is a space. */
static int joins(const uint8_t *kinds, const uint8_t *at, const uint8_t *begin, const uint8_t *end) {
    if (at == begin || at + 1 == end) return 0;
    uint8_t before = kinds[at[-1]], after = kinds[at[1]];
    if (kinds[*at] == APOSTROPHE) return before <= UNDERSCORE && after == LETTER;
    return kinds[*at] == SEPARATOR && before == DIGIT && after == DIGIT;
}

/* Whether this byte of ASCII is the minus sign of a number: -5, (-5), but not 1939-45. */
static int is_sign(const uint8_t *kinds, const uint8_t *at, const uint8_t *begin, const uint8_t *end) {
    if (kinds[*at] != MINUS || at + 1 == end || kinds[at[1]] != DIGIT) return 0;
    return at == begin || kinds[at[-1]] == SPACE || kinds[at[-1]] == OPENING;
}

/* There is room for all of the text in the vocabulary, so that a word is written while its end is looked for. Its first
 * eight bytes are collected as well: to read them back at once, the processor would wait for them to be written. */
static int split_ascii(splitter *to, const uint8_t *begin, const uint8_t *end) {
    const uint8_t *kinds = to->kinds, *folded = to->folded, *at = begin;
    while (at < end) {
        if (kinds[*at] > UNDERSCORE && !is_sign(kinds, at, begin, end)) {
            at++;
            continue;
        }
        uint8_t *first = to->words->bytes + to->words->ends[to->words->size], *target = first;
        uint64_t head = 0;
        int shift = 0;
        do {
            uint8_t byte = folded[*at++];
            *target++ = byte;
            if (shift < 64) head |= (uint64_t)byte << shift, shift += 8;
        } while (at < end && (kinds[*at] <= UNDERSCORE || joins(kinds, at, begin, end)));
        if (!number_word(to, target - first, head)) return 0;
    }
    return 1;
}

/* The length of the white space that begins here, 0 if none does. */
static int space_at(const splitter *to, const uint8_t *at, const uint8_t *end) {
    if (to->kinds[*at] == SPACE) return 1;
    if (*at == 0xC2 && end - at > 1) return to->wide_spaces[at[1]] ? 2 : 0;
    if (*at < 0xE1 || *at > 0xE3 || end - at < 3) return 0;
    return to->wide_spaces[(at[0] & 0x0F) << 12 | (at[1] & 0x3F) << 6 | (at[2] & 0x3F)] ? 3 : 0;
}

/* A chunk between white space with other characters than ASCII stays whole. */
static int split_mixed(splitter *to, const uint8_t *at, const uint8_t *end) {
    while (at < end) {
        const uint8_t *first = at;
        uint8_t *chunk = to->words->bytes + to->words->ends[to->words->size], *target = chunk;
        int foreign = 0, space = 0;
        for (; at < end && !(space = space_at(to, at, end)); at++) {
            foreign |= *at >= 0x80;
            *target++ = to->folded[*at];
        }
        if (foreign ? !number_word(to, at - first, head_of(chunk, at - first)) : !split_ascii(to, first, at)) return 0;
        at += space;
    }
    return 1;
}

static int is_ascii(const uint8_t *at, const uint8_t *end) {
    uint64_t eight, any = 0;
    for (; end - at >= 8; at += 8) {
        memcpy(&eight, at, 8);
        any |= eight;
    }
    while (at < end) any |= *at++;
    return (any & 0x8080808080808080u) == 0;
}

/* Split texts; ids needs room for (bytes + texts) / 2 + 1. starts gets the number of ids before each text and in all,
 * marks whether a text has a character from U+0300 to U+037F. The number of ids, or -1: no memory. */
int64_t split_texts(vocabulary *words, const uint8_t *data, const int64_t *offsets, int64_t texts,
                    const uint8_t *tables, int64_t *ids, int64_t *starts, uint8_t *marks) {
    splitter to = {words, tables, tables + 256, tables + 512, ids};
    for (int64_t text = 0; text < texts; text++) {
        const uint8_t *at = data + offsets[text], *end = data + offsets[text + 1];
        int ascii = is_ascii(at, end);
        if (!reserve(words, end - at)) return -1;
        starts[text] = to.ids - ids;
        if (!(ascii ? split_ascii(&to, at, end) : split_mixed(&to, at, end))) return -1;
        marks[text] = 0;
        for (; !ascii && at < end; at++) marks[text] |= *at == 0xCC || *at == 0xCD;
    }
    starts[texts] = to.ids - ids;
    return to.ids - ids;
}

/* Texts of pieces to texts of words: piece p stands for the counts[p] ids from flat[firsts[p]] on. ids has room for all
 * of them, id_starts for the number before each text and in all. */
void spread_pieces(const int64_t *pieces, const int64_t *starts, int64_t texts, const int64_t *counts,
                   const int64_t *firsts, const int64_t *flat, int64_t *ids, int64_t *id_starts) {
    int64_t *next = ids;
    for (int64_t text = 0; text < texts; text++) {
        id_starts[text] = next - ids;
        for (int64_t i = starts[text]; i < starts[text + 1]; i++) {
            const int64_t *of_piece = flat + firsts[pieces[i]];
            for (int64_t left = counts[pieces[i]]; left > 0; left--) *next++ = *of_piece++;
        }
    }
    id_starts[texts] = next - ids;
}

/* Whether two texts may be the same when case, accents and the amount of white space don't count. An accent changes no
 * letter of ASCII into another, so that the first such letter that differs tells; from another character on it is not
 * known here. */
static int may_be_same(const uint8_t *tables, const uint8_t *at, const uint8_t *end, const uint8_t *other,
                       const uint8_t *other_end) {
    const uint8_t *kinds = tables, *folded = tables + 256;
    int in_word = 0;
    for (;;) {
        if (!in_word) {
            while (at < end && kinds[*at] == SPACE) at++;
            while (other < other_end && kinds[*other] == SPACE) other++;
            if (at == end && other == other_end) return 1;
        }
        if ((at < end && *at >= 0x80) || (other < other_end && *other >= 0x80)) return 1;
        in_word = at < end && kinds[*at] != SPACE;
        if (in_word != (other < other_end && kinds[*other] != SPACE)) return 0;
        if (in_word && folded[*at++] != folded[*other++]) return 0;
    }
}

void pairs_may_be_same(const uint8_t *tables, const uint8_t *data, const int64_t *offsets, const uint8_t *other_data,
                       const int64_t *other_offsets, int64_t pairs, uint8_t *flags) {
    for (int64_t pair = 0; pair < pairs; pair++)
        flags[pair] = (uint8_t)may_be_same(tables, data + offsets[pair], data + offsets[pair + 1],
                                           other_data + other_offsets[pair], other_data + other_offsets[pair + 1]);
}

/* Which texts may change in NFC. Those below U+0300 don't, nor do dashes, quotes and dots (U+2010 to U+2027) and the euro
 * sign; of others it is not known here. */
void may_change_in_nfc(const uint8_t *data, const int64_t *offsets, int64_t texts, uint8_t *flags) {
    for (int64_t text = 0; text < texts; text++) {
        const uint8_t *at = data + offsets[text], *end = data + offsets[text + 1];
        flags[text] = 0;
        if (is_ascii(at, end)) continue;
        for (; at < end && !flags[text]; at++) {
            if (*at < 0xCC) continue;
            int plain = end - at > 2 && at[0] == 0xE2 &&
                        ((at[1] == 0x80 && at[2] >= 0x90 && at[2] <= 0xA7) || (at[1] == 0x82 && at[2] == 0xAC));
            flags[text] = !plain;
        }
    }
}
