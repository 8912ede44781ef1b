#define _GNU_SOURCE
#include "workershim.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Rights that came after the first version of the interface; the kernel's headers may be older. */
#define RIGHT_REFER (1ULL << 13)
#define RIGHT_TRUNCATE (1ULL << 14)
#define RIGHT_IOCTL_DEVICE (1ULL << 15)

static int add(int rules, const char *path) {
    struct landlock_path_beneath_attr rule = {0};
    struct stat status;
    rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
    if (rule.parent_fd < 0) return 0;
    int result = fstat(rule.parent_fd, &status);
    if (result == 0) {
        rule.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE;
        if (S_ISDIR(status.st_mode)) rule.allowed_access |= LANDLOCK_ACCESS_FS_READ_DIR;
        result = (int)syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    }
    int saved = errno;
    close(rule.parent_fd);
    errno = saved;
    return result;
}

int shim_landlock(const char *const *paths, size_t count) {
    long version =
        syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < 1) return -1;
    struct landlock_ruleset_attr attributes = {.handled_access_fs = (1ULL << 13) - 1};
    if (version >= 2) attributes.handled_access_fs |= RIGHT_REFER;
    if (version >= 3) attributes.handled_access_fs |= RIGHT_TRUNCATE;
    if (version >= 5) attributes.handled_access_fs |= RIGHT_IOCTL_DEVICE;
    int rules = (int)syscall(SYS_landlock_create_ruleset, &attributes,
                             sizeof attributes.handled_access_fs, 0);
    if (rules < 0) return -1;
    int result = 0;
    for (size_t i = 0; i < count && result == 0; i++) result = add(rules, paths[i]);
    if (result == 0) result = (int)syscall(SYS_landlock_restrict_self, rules, 0);
    int saved = errno;
    close(rules);
    errno = saved;
    return result;
}
