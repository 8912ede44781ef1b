import Documents

extension Slide {
    mutating func move(_ words: inout Arguments) throws(EditError) {
        let parts = SlideParts(elements)
        let found = try parts.find(try words.target(leaving: 1))
        let option = words.option(["by", "to"])
        let text = if let option { option.value } else { try words.next("X,Y") }
        try words.end()
        let numbers = try located("move") { () throws(EditError) in
            try ValueText.numbers(text, count: 2...2, "X,Y")
        }
        for index in found {
            try located(parts.index.path(of: index)) { () throws(EditError) in
                let origin = option?.key == "to" ? try elements[index].origin() : SlidePoint(0, 0)
                let offset = SlidePoint(numbers[0] - origin.x, numbers[1] - origin.y)
                try elements[index].changePoints { SlidePoint($0.x + offset.x, $0.y + offset.y) }
            }
        }
    }

    mutating func rotate(_ words: inout Arguments) throws(EditError) {
        let parts = SlideParts(elements)
        let found = try parts.find(try words.target(leaving: 1))
        let text = try words.next("DEGREES")
        if !words.isEmpty {
            // Solids have an axis, which the usage tells of.
            throw EditError(
                .usage, at: "rotate",
                "'\(text.prefix(64))' where only DEGREES are expected: elements of slides turn clockwise "
                    + "about their middle")
        }
        let degrees = try located("rotate") { () throws(EditError) in
            try ValueText.number(text)
        }
        for index in found {
            try located(parts.index.path(of: index)) { () throws(EditError) in
                try elements[index].rotate(by: degrees)
            }
        }
    }

    mutating func scale(_ words: inout Arguments) throws(EditError) {
        let parts = SlideParts(elements)
        let found = try parts.find(try words.target(leaving: 1))
        let text = try words.next("FACTOR")
        try words.end()
        let factors = try located("scale") { () throws(EditError) in
            let numbers = try ValueText.numbers(text, count: 1...2, "a factor or X,Y")
            for number in numbers where number <= 0 {
                throw EditError(
                    .outOfRange,
                    "\(ValueText.text(number)) where a factor greater than 0 is expected")
            }
            return SlidePoint(numbers[0], numbers[numbers.count - 1])
        }
        for index in found {
            try located(parts.index.path(of: index)) { () throws(EditError) in
                try elements[index].scale(by: factors)
            }
        }
    }
}
