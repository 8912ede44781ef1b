/* Empty on purpose: this target only carries the flags of pkg-config; CFuseShim includes the headers. */
