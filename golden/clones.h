/* What the loops of this package and its neighbours share: how functions are compiled. */

#ifndef TIEBREAK_CLONES_H
#define TIEBREAK_CLONES_H

/* Compiled for several instruction sets where the compiler can choose. */
#if defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#define CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CLONES
#endif
#if defined(__GNUC__)
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif

#endif
