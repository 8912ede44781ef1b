import Documents

extension Verb {
    /// All verbs, in the order help shows them.
    ///
    /// TARGET is a name, a number from 1, a label such as `torus.2`, `all`, or a selector of one or
    /// more words such as `type=torus color=#fc0`. Several TARGETs count together. A name in double
    /// quotes, as a TARGET or where a PATH begins, is a name whatever else it would say.
    public static let all: [Verb] = [
        Verb(
            "set", "Give keys a value",
            ["set PATH=VALUE..."]),
        Verb(
            "unset", "Take values away, so that the usual ones count",
            ["unset PATH..."]),
        Verb(
            "add", "Put in a solid, group, element or item",
            ["add KIND [NAME] [KEY=VALUE...]"], [.shape, .slide, .list]),
        Verb("remove", "Take parts out", ["remove TARGET..."], [.shape, .slide, .list]),
        Verb(
            "rename", "Give a part another name",
            ["rename TARGET NAME"], [.shape, .slide, .list]),
        Verb(
            "move", "Move parts by so much, or to a place",
            ["move TARGET X,Y[,Z]", "move TARGET by=X,Y[,Z]", "move TARGET to=X,Y[,Z]"],
            [.shape, .slide]),
        Verb(
            "rotate",
            "Turn parts by so many degrees: solids about an axis, y unless another is "
                + "given; elements of slides clockwise about their middle",
            [
                "rotate TARGET [x|y|z|X,Y,Z] DEGREES", "rotate TARGET to=X,Y,Z,DEGREES",
            ], [.shape, .slide]),
        Verb(
            "scale", "Make parts larger or smaller",
            ["scale TARGET FACTOR", "scale TARGET X,Y[,Z]", "scale TARGET to=X,Y,Z"],
            [.shape, .slide]),
        Verb(
            "color", "Give parts a colour",
            ["color TARGET COLOR", "color TARGET [fill=COLOR] [stroke=COLOR]"],
            [.shape, .slide]),
        Verb(
            "duplicate", "Put a copy of a part after it",
            ["duplicate TARGET [NAME]"], [.shape, .slide]),
        Verb(
            "order", "Change the place of a part among its neighbours; the last is drawn in front",
            ["order TARGET front|back|forward|backward|N"], [.shape, .slide]),
        Verb("group", "Put parts into a new group", ["group NAME TARGET..."], [.shape]),
        Verb(
            "ungroup", "Put what is in a group or chain in its place",
            ["ungroup TARGET"], [.shape, .slide]),
        Verb(
            "camera", "Move the camera",
            [
                "camera orbit RIGHT[,UP]", "camera pan RIGHT,UP", "camera zoom FACTOR",
                "camera look-at X,Y,Z|TARGET", "camera reset",
            ], [.shape, .shapeFile]),
        Verb(
            "background", "Set the colour behind everything; none takes it away",
            ["background COLOR|none"], [.shape, .slide]),
        Verb("title", "Set the title", ["title TEXT"], [.shape, .slide]),
        Verb(
            "align", "Line elements up with each other, or one with the canvas",
            ["align TARGET... left|center|right|top|middle|bottom"], [.slide]),
        Verb(
            "distribute", "Make the middles of elements equally far apart",
            ["distribute TARGET... horizontally|vertically"], [.slide]),
        Verb(
            "chain",
            "Join lines and curves that begin where the one before ends; with join=yes "
                + "those that do not, too",
            ["chain TARGET... [join=yes]"], [.slide]),
        Verb("text", "Change the words of a text", ["text TARGET TEXT"], [.slide]),
        Verb(
            "list", "Change a list of things to do",
            [
                "list add TEXT...", "list check TARGET...", "list uncheck TARGET...",
                "list toggle TARGET...", "list move TARGET N", "list edit TARGET TEXT",
                "list remove TARGET...", "list color COLOR", "list clear-done",
                "list copy [TARGET...]", "list paste TEXT",
            ], [.list]),
    ]
}
