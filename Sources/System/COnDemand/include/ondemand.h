// Libraries that are loaded when one of their functions is first called.
//
// Pango, cairo, chafa and curl bring sixty others with them, and the loader takes longer over those
// than an edit of a document takes; SQLite and libcrypto have thousands of names for it to look up.
// Programs are linked with functions of the same names from here, each of which loads its library,
// finds the real function and jumps there; later calls cost one indirect jump. Nothing changes for the
// callers. On processors other than x86-64 this module is empty and the libraries are loaded at the
// start, as usual.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/// What belongs together.
enum ondemand_group {
    /// cairo, Pango, chafa and what they need.
    ONDEMAND_DRAWING,
    /// curl.
    ONDEMAND_TRANSFER,
    /// SQLite and libcrypto.
    ONDEMAND_STORAGE,
};

/// Loads the libraries of a group now; for programs that will not be allowed to later, or that must not
/// end if one is missing: a call of a function whose library cannot be loaded ends the process with
/// EX_UNAVAILABLE (69) and a message. From any thread, any number of times.
///
/// Returns what is wrong, to be shown to the user, or NULL. The text stays as long as the process.
const char *ondemand_load(enum ondemand_group group);

#ifdef __cplusplus
}
#endif
