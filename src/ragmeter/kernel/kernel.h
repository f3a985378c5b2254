/* What Python calls in this library, by ctypes: plain C, so that one file serves every version of Python, and calls run
 * beside Python's other threads. Everything has a plain twin in Python, which is its oracle. */

#ifndef RAGMETER_KERNEL_H
#define RAGMETER_KERNEL_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#define API __declspec(dllexport)
#else
#define API __attribute__((visibility("default")))
#endif

API const char *kernel_sources(void);

typedef struct vocabulary vocabulary;
API vocabulary *vocabulary_new(uint64_t seed);
API void vocabulary_free(vocabulary *);
API int64_t vocabulary_size(const vocabulary *);
API const int64_t *vocabulary_ends(const vocabulary *);
API const uint8_t *vocabulary_bytes(const vocabulary *);
API int64_t vocabulary_add(vocabulary *, const uint8_t *data, const int64_t *offsets, int64_t texts, int64_t *ids);
API int64_t split_texts(vocabulary *, const uint8_t *data, const int64_t *offsets, int64_t texts,
                        const uint8_t *tables, int64_t *ids, int64_t *starts, uint8_t *marks);
API void spread_pieces(const int64_t *pieces, const int64_t *starts, int64_t texts, const int64_t *counts,
                       const int64_t *firsts, const int64_t *flat, int64_t *ids, int64_t *id_starts);
API void pairs_may_be_same(const uint8_t *tables, const uint8_t *data, const int64_t *offsets,
                           const uint8_t *other_data, const int64_t *other_offsets, int64_t pairs, uint8_t *flags);
API void may_change_in_nfc(const uint8_t *data, const int64_t *offsets, int64_t texts, uint8_t *flags);

/* Of pairs of sequences of ids below n_ids: pair p has ids[starts[p]:starts[p + 1]] and, on the other side,
 * ids[starts[pairs + p]:starts[pairs + p + 1]]. 0, or -1: no memory. */
API int64_t pair_overlaps(const int64_t *ids, const int64_t *starts, int64_t pairs, int64_t n_ids, int64_t *overlaps);
API int64_t pair_terms(const int64_t *ids, const int64_t *starts, int64_t pairs, int64_t n_ids, int64_t *terms);
API int64_t pair_alignments(const int64_t *words, const int64_t *stems, const int64_t *starts, int64_t pairs,
                            int64_t n_words, int64_t n_stems, int64_t *matches, int64_t *runs);
API int64_t pair_subsequences(const int64_t *ids, const int64_t *starts, int64_t pairs, int64_t n_ids,
                              int64_t *lengths);
API int64_t pair_distances(const uint8_t *data, const int64_t *offsets, const uint8_t *other_data,
                           const int64_t *other_offsets, int64_t pairs, int64_t *distances);

#endif
