/// Samples in the text formats.
enum TextSamples {
    static let welcome = """
        # Welcome

        This folder is a ShapeEdit container. Use it like any other folder.

        - A file is saved whole: whoever reads it sees the old version or the new one, never half.
        - What was saved is kept: earlier versions are in `.shapeedit/versions/`, one folder a file.
        - Rename, move and replace files as you like: a document keeps its identity
          (`getfattr -n user.shapeedit.id Welcome.md`).

        """

    static let snowman = """
        {
          "format": "shape",
          "version": 1,
          "title": "Snowman",
          "background": "#dfefff",
          "camera": {"position": [0, 1.2, 6], "target": [0, 0.9, 0], "fieldOfView": 60},
          "nodes": [
            {"name": "Base", "type": "sphere", "radius": 1, "color": "#ffffff"},
            {"name": "Middle", "type": "sphere", "radius": 0.7, "position": [0, 1.4, 0],
             "color": "#ffffff"},
            {"name": "Head", "type": "sphere", "radius": 0.45, "position": [0, 2.35, 0],
             "color": "#ffffff"},
            {"name": "Hat", "type": "cylinder", "radius": 0.35, "height": 0.5,
             "position": [0, 2.95, 0], "color": "#333333"},
            {"name": "Nose", "type": "cone", "topRadius": 0, "bottomRadius": 0.08, "height": 0.4,
             "position": [0, 2.35, 0.6], "rotation": [1, 0, 0, 90],
             "color": "#fe9526"}
          ]
        }

        """

    static let table = """
        {
          "version": 1,
          "title": "Table",
          "background": "#f4efe6",
          "camera": {"position": [2.5, 2.2, 4.5], "target": [0, 0.7, 0], "fieldOfView": 50},
          "nodes": [
            {"name": "Top", "type": "cylinder", "radius": 1.2, "height": 0.12, "position": [0, 1, 0],
             "color": "#a8703d"},
            {"name": "Foot", "type": "cylinder", "radius": 0.12, "height": 0.9, "position": [0, 0.5, 0],
             "color": "#7b5b3a"},
            {"name": "Stand", "type": "cylinder", "radius": 0.55, "height": 0.08,
             "position": [0, 0.04, 0], "color": "#7b5b3a"},
            {"name": "Apple", "type": "sphere", "radius": 0.2, "position": [0.4, 1.26, 0.2],
             "color": "#c0392b"}
          ]
        }

        """

    static let house = """
        {
          "title": "House",
          "author": "ShapeEdit",
          "canvasWidth": 1024,
          "canvasHeight": 768,
          "bgcolor": "#eef6ff",
          "elements": [
            {"shapeType": "rectangle", "originx": 312, "originy": 360, "width": 400, "height": 300,
             "thickness": 4, "strokeColor": "#333333", "fillColor": "#ffe9c7"},
            {"shapeType": "line", "originx": 282, "originy": 370, "endx": 512, "endy": 190,
             "thickness": 10, "strokeColor": "#a33a2a"},
            {"shapeType": "line", "originx": 512, "originy": 190, "endx": 742, "endy": 370,
             "thickness": 10, "strokeColor": "#a33a2a"},
            {"shapeType": "rectangle", "originx": 472, "originy": 500, "width": 80, "height": 160,
             "thickness": 3, "strokeColor": "#333333", "fillColor": "#7b5b3a"},
            {"shapeType": "circle", "originx": 860, "originy": 140, "radius": 60, "thickness": 0,
             "strokeColor": "#ffcc00", "fillColor": "#ffcc00"},
            {"shapeType": "text", "originx": 312, "originy": 690, "width": 400, "height": 50,
             "fontHeight": 32, "fillColor": "#333333", "bgcolor": "clear", "interactive": false,
             "alignment": "center", "text": "A house"}
          ]
        }

        """

    static let steps = """
        {
          "title": "Three steps",
          "canvasWidth": 1024,
          "canvasHeight": 768,
          "bgcolor": "white",
          "elements": [
            {"shapeType": "ellipse", "originx": 80, "originy": 300, "width": 200, "height": 120,
             "thickness": 3, "strokeColor": "#3cabdb", "fillColor": "#e2f4fb"},
            {"shapeType": "ellipse", "originx": 412, "originy": 300, "width": 200, "height": 120,
             "thickness": 3, "strokeColor": "#3cabdb", "fillColor": "#e2f4fb"},
            {"shapeType": "ellipse", "originx": 744, "originy": 300, "width": 200, "height": 120,
             "thickness": 3, "strokeColor": "#3cabdb", "fillColor": "#e2f4fb"},
            {"shapeType": "line", "originx": 280, "originy": 360, "endx": 412, "endy": 360,
             "thickness": 3, "strokeColor": "#333333"},
            {"shapeType": "line", "originx": 612, "originy": 360, "endx": 744, "endy": 360,
             "thickness": 3, "strokeColor": "#333333"}
          ]
        }

        """
}
