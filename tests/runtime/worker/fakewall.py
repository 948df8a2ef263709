"""A library to preload whose wall clock runs ahead or behind by the seconds that a file tells."""

SOURCE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
static long shift(void) {
    long n = 0; const char *p = getenv("FAKEWALL_FILE"); FILE *f = p ? fopen(p, "r") : NULL;
    if (f) { if (fscanf(f, "%ld", &n) != 1) n = 0; fclose(f); }
    return n;
}
int clock_gettime(clockid_t id, struct timespec *t) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int r = real(id, t);
    if (id == CLOCK_REALTIME) t->tv_sec += shift();
    return r;
}
int gettimeofday(struct timeval *t, void *z) {
    struct timespec s; clock_gettime(CLOCK_REALTIME, &s); t->tv_sec = s.tv_sec; t->tv_usec = s.tv_nsec / 1000; return 0;
}
time_t time(time_t *t) {
    struct timespec s; clock_gettime(CLOCK_REALTIME, &s); if (t) *t = s.tv_sec; return s.tv_sec;
}
"""
