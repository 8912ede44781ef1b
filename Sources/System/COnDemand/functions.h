// The functions that are loaded later, by library. A function that is used and missing here still works:
// its library is then loaded at the start.
#pragma once

#define CAIRO_FUNCTIONS(F) \
    F(cairo_clip) \
    F(cairo_clip_extents) \
    F(cairo_close_path) \
    F(cairo_create) \
    F(cairo_curve_to) \
    F(cairo_destroy) \
    F(cairo_fill) \
    F(cairo_fill_preserve) \
    F(cairo_font_options_create) \
    F(cairo_font_options_destroy) \
    F(cairo_font_options_set_antialias) \
    F(cairo_font_options_set_hint_metrics) \
    F(cairo_font_options_set_hint_style) \
    F(cairo_get_target) \
    F(cairo_identity_matrix) \
    F(cairo_image_surface_create) \
    F(cairo_image_surface_create_for_data) \
    F(cairo_image_surface_create_from_png_stream) \
    F(cairo_image_surface_get_height) \
    F(cairo_image_surface_get_width) \
    F(cairo_line_to) \
    F(cairo_move_to) \
    F(cairo_new_path) \
    F(cairo_paint) \
    F(cairo_paint_with_alpha) \
    F(cairo_pdf_surface_create_for_stream) \
    F(cairo_pdf_surface_restrict_to_version) \
    F(cairo_pdf_surface_set_metadata) \
    F(cairo_rectangle) \
    F(cairo_restore) \
    F(cairo_save) \
    F(cairo_scale) \
    F(cairo_set_line_width) \
    F(cairo_set_source_rgba) \
    F(cairo_set_source_surface) \
    F(cairo_show_page) \
    F(cairo_status) \
    F(cairo_status_to_string) \
    F(cairo_stroke_preserve) \
    F(cairo_surface_destroy) \
    F(cairo_surface_finish) \
    F(cairo_surface_flush) \
    F(cairo_surface_get_type) \
    F(cairo_surface_status) \
    F(cairo_translate)

#define PANGOCAIRO_FUNCTIONS(F) \
    F(pango_cairo_context_set_font_options) \
    F(pango_cairo_create_layout) \
    F(pango_cairo_font_map_set_default) \
    F(pango_cairo_glyph_string_path) \
    F(pango_cairo_layout_line_path) \
    F(pango_cairo_show_glyph_string) \
    F(pango_cairo_show_layout_line) \
    F(pango_cairo_update_layout)

#define PANGO_FUNCTIONS(F) \
    F(pango_attr_insert_hyphens_new) \
    F(pango_attr_list_insert) \
    F(pango_attr_list_new) \
    F(pango_attr_list_unref) \
    F(pango_context_set_round_glyph_positions) \
    F(pango_font_description_free) \
    F(pango_font_description_from_string) \
    F(pango_font_description_set_absolute_size) \
    F(pango_font_description_set_weight) \
    F(pango_font_get_hb_font) \
    F(pango_glyph_item_get_logical_widths) \
    F(pango_layout_get_context) \
    F(pango_layout_get_extents) \
    F(pango_layout_get_iter) \
    F(pango_layout_get_line_readonly) \
    F(pango_layout_get_log_attrs_readonly) \
    F(pango_layout_get_text) \
    F(pango_layout_get_unknown_glyphs_count) \
    F(pango_layout_iter_free) \
    F(pango_layout_iter_get_line_extents) \
    F(pango_layout_iter_get_line_readonly) \
    F(pango_layout_iter_get_run_readonly) \
    F(pango_layout_iter_next_line) \
    F(pango_layout_iter_next_run) \
    F(pango_layout_line_index_to_x) \
    F(pango_layout_set_alignment) \
    F(pango_layout_set_attributes) \
    F(pango_layout_set_ellipsize) \
    F(pango_layout_set_font_description) \
    F(pango_layout_set_justify) \
    F(pango_layout_set_single_paragraph_mode) \
    F(pango_layout_set_text) \
    F(pango_layout_set_width) \
    F(pango_layout_set_wrap)

#define FONTCONFIG_FUNCTIONS(F) \
    F(FcConfigGetFonts) \
    F(FcPatternGetString)

#define HARFBUZZ_FUNCTIONS(F) \
    F(hb_blob_destroy) \
    F(hb_blob_get_data) \
    F(hb_font_get_face) \
    F(hb_font_get_glyph_extents) \
    F(hb_ot_color_glyph_reference_png) \
    F(hb_ot_color_has_png)

#define GOBJECT_FUNCTIONS(F) \
    F(g_object_ref) \
    F(g_object_unref)

#define GLIB_FUNCTIONS(F) \
    F(g_string_free)

#define CHAFA_FUNCTIONS(F) \
    F(chafa_canvas_config_new) \
    F(chafa_canvas_config_set_canvas_mode) \
    F(chafa_canvas_config_set_cell_geometry) \
    F(chafa_canvas_config_set_dither_mode) \
    F(chafa_canvas_config_set_geometry) \
    F(chafa_canvas_config_set_pixel_mode) \
    F(chafa_canvas_config_unref) \
    F(chafa_canvas_draw_all_pixels) \
    F(chafa_canvas_new) \
    F(chafa_canvas_print) \
    F(chafa_canvas_unref) \
    F(chafa_term_info_new) \
    F(chafa_term_info_set_seq) \
    F(chafa_term_info_unref)

#define CURL_FUNCTIONS(F) \
    F(curl_easy_cleanup) \
    F(curl_easy_getinfo) \
    F(curl_easy_init) \
    F(curl_easy_setopt) \
    F(curl_easy_strerror) \
    F(curl_global_init) \
    F(curl_multi_add_handle) \
    F(curl_multi_cleanup) \
    F(curl_multi_info_read) \
    F(curl_multi_init) \
    F(curl_multi_perform) \
    F(curl_multi_poll) \
    F(curl_multi_remove_handle) \
    F(curl_slist_append) \
    F(curl_slist_free_all)

#define SQLITE_FUNCTIONS(F) \
    F(sqlite3_bind_blob64) \
    F(sqlite3_bind_int64) \
    F(sqlite3_bind_null) \
    F(sqlite3_bind_text) \
    F(sqlite3_bind_zeroblob) \
    F(sqlite3_busy_timeout) \
    F(sqlite3_clear_bindings) \
    F(sqlite3_close_v2) \
    F(sqlite3_column_blob) \
    F(sqlite3_column_bytes) \
    F(sqlite3_column_int64) \
    F(sqlite3_column_text) \
    F(sqlite3_column_type) \
    F(sqlite3_db_handle) \
    F(sqlite3_errmsg) \
    F(sqlite3_errstr) \
    F(sqlite3_exec) \
    F(sqlite3_file_control) \
    F(sqlite3_finalize) \
    F(sqlite3_get_autocommit) \
    F(sqlite3_open_v2) \
    F(sqlite3_prepare_v3) \
    F(sqlite3_reset) \
    F(sqlite3_step) \
    F(sqlite3_stmt_busy) \
    F(sqlite3_system_errno)

#define CRYPTO_FUNCTIONS(F) \
    F(EVP_CIPHER_CTX_ctrl) \
    F(EVP_CIPHER_CTX_free) \
    F(EVP_CIPHER_CTX_new) \
    F(EVP_Digest) \
    F(EVP_DigestFinal_ex) \
    F(EVP_DigestInit_ex) \
    F(EVP_DigestUpdate) \
    F(EVP_EncryptFinal_ex) \
    F(EVP_EncryptInit_ex) \
    F(EVP_EncryptUpdate) \
    F(EVP_MD_CTX_free) \
    F(EVP_MD_CTX_new) \
    F(EVP_Q_mac) \
    F(EVP_aes_128_gcm) \
    F(EVP_md5) \
    F(EVP_sha256)

/// Name, file, Debian's package, group.
#define LIBRARIES(L) \
    L(cairo, CAIRO_FUNCTIONS, "libcairo.so.2", "libcairo2", ONDEMAND_DRAWING) \
    L(pangocairo, PANGOCAIRO_FUNCTIONS, "libpangocairo-1.0.so.0", "libpangocairo-1.0-0", ONDEMAND_DRAWING) \
    L(pango, PANGO_FUNCTIONS, "libpango-1.0.so.0", "libpango-1.0-0", ONDEMAND_DRAWING) \
    L(fontconfig, FONTCONFIG_FUNCTIONS, "libfontconfig.so.1", "libfontconfig1", ONDEMAND_DRAWING) \
    L(harfbuzz, HARFBUZZ_FUNCTIONS, "libharfbuzz.so.0", "libharfbuzz0b", ONDEMAND_DRAWING) \
    L(gobject, GOBJECT_FUNCTIONS, "libgobject-2.0.so.0", "libglib2.0-0", ONDEMAND_DRAWING) \
    L(glib, GLIB_FUNCTIONS, "libglib-2.0.so.0", "libglib2.0-0", ONDEMAND_DRAWING) \
    L(chafa, CHAFA_FUNCTIONS, "libchafa.so.0", "libchafa0", ONDEMAND_DRAWING) \
    L(curl, CURL_FUNCTIONS, "libcurl.so.4", "libcurl4", ONDEMAND_TRANSFER) \
    L(sqlite, SQLITE_FUNCTIONS, "libsqlite3.so.0", "libsqlite3-0", ONDEMAND_STORAGE) \
    L(crypto, CRYPTO_FUNCTIONS, "libcrypto.so.3", "libssl3", ONDEMAND_STORAGE)
