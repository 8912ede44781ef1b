# Finds mounts and daemons that a test run left behind; sourced by Scripts/test.
#
# What counts: a mount of type fuse.shapeedit that was not there at `remember_present`, and a
# process with SHAPEEDIT_TEST_RUN of this run in its environment, or running this checkout's
# program, that was not there either. Mounts and processes of other runs on the same machine,
# which have their own mark, are left alone.
#
# shellcheck shell=bash disable=SC2154
# Uses: root (the checkout), TMPDIR and SHAPEEDIT_TEST_RUN (of this run).

# Mount points of all ShapeEdit mounts, one a line. The kernel writes blanks in octal there.
shapeedit_mounts() {
    local _device directory type _rest
    while read -r _device directory type _rest; do
        [[ $type != fuse.shapeedit ]] || printf '%b\n' "${directory//\\/\\0}"
    done </proc/self/mounts
}

# "pid:start time" of each process of this run or of this checkout's program; the start time
# keeps a reused pid from being taken for the old process.
shapeedit_processes() {
    local directory executable stat fields
    for directory in /proc/[0-9]*; do
        [[ ${directory#/proc/} != "$$" && ${directory#/proc/} != "$BASHPID" ]] || continue
        executable=$(readlink "$directory/exe" 2>/dev/null) || continue
        executable=${executable% (deleted)}
        case $executable in
        "$root"/.build/*/shapeedit) ;;
        *)
            # This script's own helpers carry the mark as well; a daemon has been left by its
            # parents, so only what was adopted by init (or a subreaper) counts.
            grep --quiet --null-data --line-regexp --fixed-strings \
                "SHAPEEDIT_TEST_RUN=$SHAPEEDIT_TEST_RUN" "$directory/environ" 2>/dev/null \
                || continue
            is_own_descendant "${directory#/proc/}" && continue
            ;;
        esac
        stat=$(cat "$directory/stat" 2>/dev/null) || continue
        # The name, in parentheses, may hold blanks: count the fields after it.
        read -r -a fields <<<"${stat##*) }"
        [[ ${fields[0]} == Z ]] || printf '%s:%s\n' "${directory#/proc/}" "${fields[19]}"
    done
}

# Whether a process is a child, or a child's child, of this script.
is_own_descendant() {
    local process=$1
    while [[ -n $process ]] && ((process > 1)); do
        ((process != $$)) || return 0
        process=$(sed -n 's/^PPid:\t//p' "/proc/$process/status" 2>/dev/null)
    done
    return 1
}

# To be called before the tests: what is there now is not theirs.
remember_present() {
    mounts_before=$(shapeedit_mounts)
    processes_before=$(shapeedit_processes)
}

new_mounts() {
    local directory
    shapeedit_mounts | while read -r directory; do
        grep --quiet --line-regexp --fixed-strings -- "$directory" <<<"$mounts_before" && continue
        # Below the folder of another test run: that run's affair.
        [[ $directory == */shapeedit-test.??????/* && $directory != "$TMPDIR"/* ]] && continue
        printf '%s\n' "$directory"
    done
}

new_processes() {
    local process
    shapeedit_processes | while read -r process; do
        grep --quiet --line-regexp --fixed-strings "$process" <<<"$processes_before" \
            || printf '%s\n' "$process"
    done
}

# Prints what is left; succeeds if nothing is. Daemons of mounts that were just unmounted get
# some seconds to end by themselves.
list_leftovers() {
    local mounts processes process attempt
    for attempt in 1 2 3 4 5 6 7 8 9 10; do
        mounts=$(new_mounts)
        processes=$(new_processes)
        [[ -n $mounts || -n $processes ]] || return 0
        ((attempt == 10)) || sleep 0.5
    done
    [[ -z $mounts ]] || printf 'mount    %s\n' "${mounts//$'\n'/$'\nmount    '}"
    for process in $processes; do
        process=${process%%:*}
        printf 'process  %s %s\n' "$process" \
            "$(tr '\0' ' ' <"/proc/$process/cmdline" 2>/dev/null || echo '(gone)')"
    done
    return 1
}

# Detaches and ends what this run left. A mount outside TMPDIR is only reported: it may be
# somebody's who started it meanwhile.
remove_leftovers() {
    local directory process
    [[ -n ${mounts_before+set} ]] || return 0
    new_mounts | sort --reverse | while read -r directory; do
        [[ $directory == "$TMPDIR"/* ]] || continue
        fusermount3 -u -z -- "$directory" 2>/dev/null \
            || umount --lazy -- "$directory" 2>/dev/null || true
    done
    for process in $(new_processes); do
        kill -KILL "${process%%:*}" 2>/dev/null || true
    done
}
