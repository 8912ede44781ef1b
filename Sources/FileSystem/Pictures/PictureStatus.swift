internal import PathText
internal import Pictures

extension VolumePictures {
    /// What `status.json` says about pictures.
    var statusFields: [(String, String)] {
        let counts = queue.counts
        var fields = [
            ("picturesDrawn", String(counts.drawn)), ("picturesWaiting", String(counts.waiting)),
            ("picturesFailed", String(counts.failed)), ("picturesFetched", String(fetched)),
            ("desktopThumbnails", desktop == nil ? "false" : "true"),
        ]
        if let problem = maker.ownProblem ?? queue.problem {
            fields.append(("pictureProblem", PathText.quoted(problem)))
        }
        if let problem = maker.foreignProblem {
            fields.append(("foreignPictureProblem", PathText.quoted(problem)))
        }
        if let problem = desktop?.presentProblem {
            fields.append(("desktopProblem", PathText.quoted(problem)))
        }
        return fields
    }
}
