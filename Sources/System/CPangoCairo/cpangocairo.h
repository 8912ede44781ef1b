#include <cairo-pdf.h>
#include <hb-ot.h>
#include <pango/pangocairo.h>
