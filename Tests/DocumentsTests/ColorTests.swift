import Documents
import Testing

/// Colours as text.
@Suite struct ColorTests {
    @Test(arguments: [
        ("#f00", "#ff0000"), ("#F008", "#ff000088"), ("#3CABDB", "#3cabdb"),
        ("#3cabdbff", "#3cabdb"), ("#00000080", "#00000080"), ("red", "#ff0000"),
        ("RebeccaPurple", "#663399"), (" clear ", "clear"), ("transparent", "clear"),
        ("rgb(60, 171, 219)", "#3cabdb"), ("rgba(60,171,219,0.5)", "#3cabdb80"),
        ("rgb(60 171 219 / 50%)", "#3cabdb80"), ("rgb(100%, 0%, 300)", "#ff00ff"),
        ("#ff000000", "#ff000000"),
    ])
    func `a colour is read and written canonically`(text: String, canonical: String) throws {
        let color = try #require(Color(text))
        #expect(color.description == canonical)
        #expect(Color(canonical) == color)
    }

    @Test(arguments: [
        "", "#", "#12", "#12345", "#1234567", "#ggg", "redd", "rgb()", "rgb(1,2)", "rgb(1,2,3,4,5)",
        "rgb(1,,3)", "rgb(nan,1,2)", "rgb(0x1,1,2)", "hsl(1,2,3)", "rgb(1,2,3", "#é12",
    ])
    func `what is no colour is refused`(text: String) {
        #expect(Color(text) == nil)
    }

    @Test(arguments: [
        "rgb(300,0,0)", "rgb(0,-1,0)", "rgb(101%,0%,0%)", "rgba(0,0,0,1.5)", "rgb(0 0 0 / 120%)",
    ])
    func `parts beyond their range count as the nearest only for the tolerant`(text: String) {
        #expect(Color(text) != nil)
        #expect(Color(text, isTolerant: false) == nil)
        #expect(Color("rgba(255, 100%, 0, 1)", isTolerant: false) == Color("#ffff00"))
    }

    @Test func `documents of our own take only hexadecimal colours`() {
        #expect(Color(hexadecimal: "#abc") == Color("#aabbcc"))
        #expect(Color(hexadecimal: "red") == nil)
        #expect(Color(hexadecimal: "#aabbccdd00") == nil)
    }
}
