#define _GNU_SOURCE
#include "ondemand.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <sysexits.h>
#include <unistd.h>

#if defined(__x86_64__)

#include "functions.h"

// A stub jumps to where its slot points: at first to `first_`, which finds the real function, later to
// that. Hidden, so that the libraries among themselves do not call through here.
#define STUB(name)                              \
    __asm__(                                    \
        ".text\n"                               \
        ".p2align 4\n"                          \
        ".globl " #name "\n"                    \
        ".hidden " #name "\n"                   \
        ".type " #name ", @function\n" #name    \
        ":\n"                                   \
        "    jmp *ondemand_slot_" #name "(%rip)\n" \
        "ondemand_first_" #name ":\n"           \
        "    leaq ondemand_slot_" #name "(%rip), %r11\n" \
        "    jmp ondemand_first\n"              \
        ".size " #name ", . - " #name "\n"      \
        ".data\n"                               \
        ".p2align 3\n"                          \
        "ondemand_slot_" #name ": .quad ondemand_first_" #name "\n" \
        ".text\n");
#define STUBS(library, functions, file, package, group) functions(STUB)
LIBRARIES(STUBS)

// Keeps all that arguments may be in (r11 is free in every call) while the library is loaded.
__asm__(
    ".text\n"
    ".p2align 4\n"
    ".type ondemand_first, @function\n"
    "ondemand_first:\n"
    "    .cfi_startproc\n"
    "    pushq %rdi\n    pushq %rsi\n    pushq %rdx\n    pushq %rcx\n"
    "    pushq %r8\n    pushq %r9\n    pushq %rax\n    pushq %r11\n"
    "    .cfi_adjust_cfa_offset 64\n"
    "    subq $136, %rsp\n"
    "    .cfi_adjust_cfa_offset 136\n"
    "    movups %xmm0, (%rsp)\n    movups %xmm1, 16(%rsp)\n"
    "    movups %xmm2, 32(%rsp)\n    movups %xmm3, 48(%rsp)\n"
    "    movups %xmm4, 64(%rsp)\n    movups %xmm5, 80(%rsp)\n"
    "    movups %xmm6, 96(%rsp)\n    movups %xmm7, 112(%rsp)\n"
    "    movq %r11, %rdi\n"
    "    call ondemand_resolve\n"
    "    movups (%rsp), %xmm0\n    movups 16(%rsp), %xmm1\n"
    "    movups 32(%rsp), %xmm2\n    movups 48(%rsp), %xmm3\n"
    "    movups 64(%rsp), %xmm4\n    movups 80(%rsp), %xmm5\n"
    "    movups 96(%rsp), %xmm6\n    movups 112(%rsp), %xmm7\n"
    "    addq $136, %rsp\n"
    "    .cfi_adjust_cfa_offset -136\n"
    "    popq %r11\n    popq %rax\n    popq %r9\n    popq %r8\n"
    "    popq %rcx\n    popq %rdx\n    popq %rsi\n    popq %rdi\n"
    "    .cfi_adjust_cfa_offset -64\n"
    "    jmp *(%r11)\n"
    "    .cfi_endproc\n"
    ".size ondemand_first, . - ondemand_first\n");

struct function {
    const char *name;
    void **slot;
};

struct library {
    const char *file;
    const char *package;
    enum ondemand_group group;
    const struct function *functions;
    size_t count;
};

#define SLOT(name) extern void *ondemand_slot_##name __attribute__((visibility("hidden")));
#define SLOTS(library, functions, file, package, group) functions(SLOT)
LIBRARIES(SLOTS)

#define FUNCTION(name) {#name, &ondemand_slot_##name},
#define TABLE(library, functions, file, package, group) \
    static const struct function library##_functions[] = {functions(FUNCTION)};
LIBRARIES(TABLE)

#define LIBRARY(library, functions, file, package, group) \
    {file, package, group, library##_functions,           \
     sizeof library##_functions / sizeof *library##_functions},
static const struct library libraries[] = {LIBRARIES(LIBRARY)};
static const size_t libraryCount = sizeof libraries / sizeof *libraries;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char problem[512];
/// Which libraries are loaded; under `lock`.
static char loaded[sizeof libraries / sizeof *libraries];

/// Points all slots of a library to its functions; with `lock` held. Whether that worked.
static int load(const struct library *library) {
    if (loaded[library - libraries]) return 1;
    void *handle = dlopen(library->file, RTLD_LAZY | RTLD_LOCAL);
    if (handle == NULL) {
        snprintf(
            problem, sizeof problem, "%s (Debian: %s)", dlerror(), library->package);
        return 0;
    }
    for (size_t index = 0; index < library->count; index++) {
        const struct function *function = &library->functions[index];
        void *found = dlsym(handle, function->name);
        if (found == NULL) {
            snprintf(problem, sizeof problem, "%s", dlerror());
            return 0;
        }
        // Other threads may be jumping through it: they find the one or the other.
        __atomic_store_n(function->slot, found, __ATOMIC_RELEASE);
    }
    loaded[library - libraries] = 1;
    return 1;
}

static int owns(const struct library *library, void **slot) {
    for (size_t index = 0; index < library->count; index++) {
        if (library->functions[index].slot == slot) return 1;
    }
    return 0;
}

/// Loads the library of a slot, or ends the process.
__attribute__((used, visibility("hidden"))) void ondemand_resolve(void **slot) {
    for (size_t index = 0; index < libraryCount; index++) {
        if (!owns(&libraries[index], slot)) continue;
        pthread_mutex_lock(&lock);
        int isLoaded = load(&libraries[index]);
        pthread_mutex_unlock(&lock);
        if (isLoaded) return;
    }
    dprintf(STDERR_FILENO, "shapeedit: %s\n", problem);
    _exit(EX_UNAVAILABLE);
}

const char *ondemand_load(enum ondemand_group group) {
    const char *result = NULL;
    pthread_mutex_lock(&lock);
    for (size_t index = 0; index < libraryCount && result == NULL; index++) {
        if (libraries[index].group == group && !load(&libraries[index])) result = problem;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

#else

const char *ondemand_load(enum ondemand_group group) {
    (void)group;
    return NULL;
}

#endif
