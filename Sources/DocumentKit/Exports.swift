/// What this module's interface is made of comes with it: queries and how their results become others, and
/// paths as text. An app that depends on the product has no other module to import.
@_exported public import Model
@_exported public import PathText
