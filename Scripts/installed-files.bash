# What Scripts/install and Scripts/uninstall share: their arguments and the list of files. Sourced.

# What is installed is for others too, also what other programs make of it.
umask 022

# Sets scope, prefix, staging and build from the arguments of script $1, and where the prefix, or for a
# user's own programs the environment, has shared data, units and helpers.
read_arguments() {
    local script=$1
    shift
    scope=user prefix='' staging=${DESTDIR:-} build='' share=''
    [[ -z $staging ]] || staging=$(realpath --canonicalize-missing -- "$staging")
    while (($# > 0)); do
        case $1 in
        --user | --system) scope=${1#--} ;;
        --prefix | --build)
            (($# >= 2)) || fail "$1 needs a folder"
            printf -v "${1#--}" %s "$(realpath --canonicalize-missing -- "$2")"
            shift
            ;;
        *)
            echo "usage: Scripts/$script [--user|--system] [--prefix FOLDER]$usage_end" >&2
            exit 64
            ;;
        esac
        shift
    done
    # The place of mount(8)'s helpers is fixed; elsewhere is only for trying out and packaging.
    helper=$prefix/sbin
    if [[ $scope == system ]]; then
        if [[ -z $prefix ]]; then
            prefix=/usr/local
            helper=/sbin
        fi
        units=$prefix/lib/systemd/user
    else
        local home=${HOME:-$(getent passwd "$EUID" | cut --delimiter=: --fields=6)}
        if [[ -z $prefix || $prefix == "$home/.local" ]]; then
            prefix=$home/.local
            share=$(absolute "${XDG_DATA_HOME:-}" "$prefix/share")
            units=$(absolute "${XDG_CONFIG_HOME:-}" "$home/.config")/systemd/user
        else
            units=$prefix/systemd/user
        fi
    fi
    share=${share:-$prefix/share}
    # The list of files has lines and tabs, and so has what is made of it.
    [[ $staging$prefix$share$units$build != *[[:cntrl:]]* ]] \
        || fail "the name of a folder has a control character in it"
}

# Prints a folder that the environment names, or $2: as the desktops, who pass over relative ones.
absolute() {
    if [[ $1 == /* ]]; then realpath --canonicalize-missing -- "$1"; else printf '%s\n' "$2"; fi
}

# Prints kind, source and target of each file of this scope, with tabs between.
list_files() {
    local kind source target who
    while read -r kind source target who; do
        [[ -n $kind && $kind != '#'* ]] || continue
        [[ $who == both || $who == "$scope" ]] || continue
        # In quotes, since an & would stand for what is replaced.
        source=${source/#'{build}'/"$build"}
        target=${target/#'{bin}'/"$prefix/bin"}
        target=${target/#'{share}'/"$share"}
        target=${target/#'{man}'/"$prefix/share/man"}
        target=${target/#'{units}'/"$units"}
        target=${target/#'{helper}'/"$helper"}
        printf '%s\t%s\t%s\n' "$kind" "$source" "$staging$target"
    done <"$root/Mount/installed-files"
}

# Prints where file $1 is made, beside it: desktops and systemd pass over what is called so.
draft_of() { printf '%s/.%s.new' "$(dirname -- "$1")" "$(basename -- "$1")"; }

# Makes what the desktop derives from the installed files anew, where the programs for it are. Not of
# what is staged: in a package it would take the place of what the machine has made of all its types.
refresh_desktop() {
    [[ -z $staging ]] || return 0
    if [[ -d $share/mime/packages ]] && command -v update-mime-database >/dev/null; then
        # Named, so that it does not warn of a folder that the desktop does not look at.
        XDG_DATA_DIRS=$share:${XDG_DATA_DIRS:-/usr/local/share:/usr/share} \
            update-mime-database "$share/mime" || true
    fi
    if [[ -d $share/applications ]] && command -v update-desktop-database >/dev/null; then
        update-desktop-database -q "$share/applications" || true
    fi
    # A changed time makes icon themes be read again.
    if [[ -d $share/icons/hicolor ]]; then touch "$share/icons/hicolor"; fi
}
