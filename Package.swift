// swift-tools-version: 6.2
import PackageDescription

/// Every Swift target is built alike: Swift 6 mode, explicit existentials and imports, no warnings.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
    // Requests of the kernel run through many small functions of several modules.
    .unsafeFlags(
        ["-cross-module-optimization", "-enforce-exclusivity=unchecked"],
        .when(configuration: .release)),
]

/// Released programs hold Swift's libraries: the loader would take longer over them than an edit
/// takes, and they run where no Swift is installed. lld, because others warn of what Foundation has
/// and nobody calls. What draws, transfers and stores is loaded when it is used (COnDemand).
/// The libraries named are those that only the static Foundation asks for.
let standalone: [LinkerSetting] = [
    .unsafeFlags(
        [
            "-static-stdlib", "-use-ld=lld", "-Xclang-linker",
            "--config=\(Context.packageDirectory)/Sources/System/COnDemand/link.cfg",
            "-l_FoundationCShims", "-l_FoundationCollections", "-lswiftSynchronization",
        ], .when(platforms: [.linux], configuration: .release))
]

// Modules are listed from the bottom up; a module may depend only on those above it in this list.
let package = Package(
    name: "ShapeEdit",
    products: [
        .executable(name: "shapeedit", targets: ["shapeedit"]),
        .executable(name: "shapeedit-thumbnailer", targets: ["shapeedit-thumbnailer"]),
        .library(name: "DocumentKit", targets: ["DocumentKit"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        // System: the C libraries and the system calls, nothing of ShapeEdit.
        .systemLibrary(
            name: "CFuse3", path: "Sources/System/CFuse3", pkgConfig: "fuse3",
            providers: [.apt(["libfuse3-dev"])]),
        .systemLibrary(
            name: "CSQLite", path: "Sources/System/CSQLite", pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(
            name: "CCrypto", path: "Sources/System/CCrypto", pkgConfig: "libcrypto",
            providers: [.apt(["libssl-dev"])]),
        .systemLibrary(
            name: "CPangoCairo", path: "Sources/System/CPangoCairo", pkgConfig: "pangocairo",
            providers: [.apt(["libpango1.0-dev"])]),
        .systemLibrary(
            name: "CPNG", path: "Sources/System/CPNG", pkgConfig: "libpng",
            providers: [.apt(["libpng-dev"])]),
        .systemLibrary(
            name: "CDeflate", path: "Sources/System/CDeflate", pkgConfig: "libdeflate",
            providers: [.apt(["libdeflate-dev"])]),
        .systemLibrary(
            name: "CChafa", path: "Sources/System/CChafa", pkgConfig: "chafa",
            providers: [.apt(["libchafa-dev"])]),
        .systemLibrary(
            name: "CCurl", path: "Sources/System/CCurl", pkgConfig: "libcurl",
            providers: [.apt(["libcurl4-openssl-dev"])]),
        .target(
            name: "CCurlShim", dependencies: ["CCurl"], path: "Sources/System/CCurlShim"),
        .target(name: "COnDemand", path: "Sources/System/COnDemand", exclude: ["link.cfg"]),
        .target(
            name: "CPNGShim", dependencies: ["CPNG", "CDeflate"], path: "Sources/System/CPNGShim"),
        .target(
            name: "CFuseShim", dependencies: ["CFuse3"], path: "Sources/System/CFuseShim"),
        .target(name: "CWorkerShim", path: "Sources/System/CWorkerShim"),
        .target(name: "CSystemShim", path: "Sources/System/CSystemShim"),
        .target(name: "CTerminalShim", path: "Sources/System/CTerminalShim"),
        .target(name: "PathText", path: "Sources/System/PathText", swiftSettings: strict),
        .target(
            name: "SystemCalls",
            dependencies: ["PathText", "CCrypto", "CDeflate", "COnDemand", "CSystemShim"],
            path: "Sources/System/SystemCalls", swiftSettings: strict),

        // The product, bottom up.
        .target(
            name: "Model", dependencies: ["PathText"], path: "Sources/Model", swiftSettings: strict),
        .target(
            name: "Documents", dependencies: ["PathText"], path: "Sources/Documents",
            exclude: ["Schemas"], swiftSettings: strict),
        .target(
            name: "Editing", dependencies: ["Documents", "PathText"], path: "Sources/Editing",
            swiftSettings: strict),
        .target(
            name: "Drawing",
            dependencies: [
                "Documents", "PathText", "SystemCalls", "CPangoCairo", "CPNGShim", "CChafa",
                "COnDemand",
            ],
            path: "Sources/Drawing", swiftSettings: strict),
        .target(
            name: "Terminal", dependencies: ["CTerminalShim"], path: "Sources/Terminal",
            swiftSettings: strict),
        .target(
            name: "Editor",
            dependencies: ["Documents", "Drawing", "Editing", "PathText", "Terminal"],
            path: "Sources/Editor", swiftSettings: strict),
        .target(
            name: "Browser", dependencies: ["Drawing", "Editor", "PathText", "Terminal"],
            path: "Sources/Browser", swiftSettings: strict),
        .target(
            name: "Catalog", dependencies: ["Model", "PathText", "SystemCalls", "CSQLite"],
            path: "Sources/Catalog", swiftSettings: strict),
        .target(
            name: "Content", dependencies: ["Model", "PathText", "SystemCalls"],
            path: "Sources/Content", swiftSettings: strict),
        .target(
            name: "Stores",
            dependencies: [
                "Model", "PathText", "SystemCalls", "CCurl", "CCurlShim", "COnDemand",
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/Stores", swiftSettings: strict),
        .target(
            name: "Promises",
            dependencies: [
                "Model", "PathText", "SystemCalls", "Content", "Stores",
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/Promises", swiftSettings: strict),
        .target(
            name: "Thumbnailing", dependencies: ["PathText", "SystemCalls", "CWorkerShim"],
            path: "Sources/Thumbnailing", swiftSettings: strict),
        .target(
            name: "Pictures",
            dependencies: ["Model", "PathText", "SystemCalls", "Content", "Thumbnailing"],
            path: "Sources/Presentation/Pictures", swiftSettings: strict),
        .target(
            name: "RecentFiles", dependencies: ["PathText", "SystemCalls", "Thumbnailing"],
            path: "Sources/Presentation/RecentFiles", swiftSettings: strict),
        .target(
            name: "Coordination",
            dependencies: [
                "Model", "PathText", "SystemCalls", "CSystemShim", "Catalog", "Content", "Pictures",
            ],
            path: "Sources/Coordination", swiftSettings: strict),
        .target(
            name: "FileSystem",
            dependencies: [
                "Model", "PathText", "SystemCalls", "Catalog", "Content", "Stores", "Promises",
                "Coordination",
                "CFuseShim", "Pictures", "RecentFiles", "Thumbnailing",
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/FileSystem", swiftSettings: strict),
        .target(
            name: "Varlink",
            dependencies: ["Model", "PathText", "SystemCalls", "CSystemShim", "Documents"],
            path: "Sources/Varlink", swiftSettings: strict),
        .target(
            name: "DocumentKit",
            dependencies: [
                "Model", "PathText", "SystemCalls", "CSystemShim", "Documents", "Varlink",
                "Thumbnailing",
            ],
            path: "Sources/DocumentKit", swiftSettings: strict),
        .target(
            name: "DocumentFiles",
            dependencies: [
                "Model", "PathText", "SystemCalls", "Documents", "Editing", "DocumentKit",
            ],
            path: "Sources/DocumentFiles", swiftSettings: strict),
        .target(
            name: "Control",
            dependencies: [
                "Model", "SystemCalls", "Documents", "Varlink", "Coordination", "FileSystem",
            ],
            path: "Sources/Control",
            resources: [.embedInCode("Interface/org.shapeedit.Control.varlink")],
            swiftSettings: strict),
        .executableTarget(
            name: "shapeedit",
            dependencies: [
                "Model", "PathText", "SystemCalls", "Catalog", "Content", "Stores", "Promises",
                "Coordination",
                "Control", "DocumentKit", "Varlink",
                "FileSystem", "Documents", "Editing", "Drawing", "DocumentFiles", "Terminal",
                "Editor", "Browser", "Pictures", "RecentFiles", "Thumbnailing",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources/Programs/shapeedit", swiftSettings: strict,
            linkerSettings: standalone),
        .executableTarget(
            name: "shapeedit-thumbnailer",
            dependencies: [
                "Documents", "Drawing", "PathText", "SystemCalls", "Thumbnailing", "CWorkerShim",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Sources/Programs/shapeedit-thumbnailer", swiftSettings: strict,
            linkerSettings: standalone),

        // Tests. Those of the mount drive the built program from outside.
        .target(name: "CKernel", path: "Tests/Support/CKernel"),
        .target(
            name: "Probing", dependencies: ["CKernel"], path: "Tests/Support/Probing",
            swiftSettings: strict),
        .executableTarget(
            name: "shapeedit-probe", dependencies: ["Probing", "CKernel"],
            path: "Tests/Support/Probe", swiftSettings: strict),
        .target(
            name: "TestSupport", dependencies: ["Probing", "CKernel"],
            path: "Tests/Support/TestSupport", swiftSettings: strict),
        .target(
            name: "DocumentFuzzing", dependencies: ["Documents"],
            path: "Tests/Support/DocumentFuzzing", swiftSettings: strict),
        .executableTarget(
            name: "documents-fuzz", dependencies: ["DocumentFuzzing"],
            path: "Tests/Support/DocumentFuzz", swiftSettings: strict),
        .testTarget(
            name: "DocumentsTests", dependencies: ["Documents", "DocumentFuzzing"],
            path: "Tests/DocumentsTests", exclude: ["Corpus"], swiftSettings: strict),
        .testTarget(
            name: "EditingTests", dependencies: ["Editing", "Documents", "DocumentFuzzing"],
            path: "Tests/EditingTests", swiftSettings: strict),
        .testTarget(
            name: "CatalogTests",
            dependencies: ["Catalog", "Model", "PathText", "SystemCalls", "Probing"],
            path: "Tests/CatalogTests", swiftSettings: strict),
        .testTarget(
            name: "DrawingTests",
            dependencies: ["Drawing", "Documents", "CPNG", "PathText", "Probing"],
            path: "Tests/DrawingTests",
            exclude: [
                "Exports/read_models.py", "Exports/read_pdf.py", "Exports/read_svg.py",
                "Support/pictures.ttf",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "TerminalTests", dependencies: ["Terminal", "DocumentFuzzing"],
            path: "Tests/TerminalTests", swiftSettings: strict),
        .testTarget(
            name: "EditorTests",
            dependencies: [
                "Editor", "Browser", "Editing", "Documents", "DocumentFiles", "Drawing", "Model",
                "PathText", "SystemCalls", "Terminal", "TestSupport", "Probing",
            ],
            path: "Tests/EditorTests", swiftSettings: strict),
        .executableTarget(
            name: "shapeedit-drawing-bench", dependencies: ["Drawing", "Documents"],
            path: "Tests/Support/DrawingBench", swiftSettings: strict),
        .testTarget(
            name: "CoordinationTests",
            dependencies: ["Catalog", "Content", "Coordination", "Model", "Probing"],
            path: "Tests/CoordinationTests", swiftSettings: strict),
        .executableTarget(
            name: "note-taker", dependencies: ["DocumentKit"], path: "Tests/Support/NoteTaker",
            swiftSettings: strict),
        .executableTarget(
            name: "document-editor", dependencies: ["DocumentKit", "Probing"],
            path: "Tests/Support/DocumentEditor", swiftSettings: strict),
        .testTarget(
            name: "DocumentKitTests",
            dependencies: [
                "DocumentKit", "Model", "SystemCalls", "Varlink", "TestSupport", "Probing",
                "note-taker", "document-editor",
            ],
            path: "Tests/DocumentKitTests", swiftSettings: strict),
        .testTarget(
            name: "VolumeTests",
            dependencies: [
                "FileSystem", "Coordination", "Catalog", "Content", "Pictures", "Model", "PathText",
                "Stores", "SystemCalls", "Probing", .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/VolumeTests", swiftSettings: strict),
        .testTarget(
            name: "StoreTests",
            dependencies: [
                "Stores", "Promises", "Content", "Model", "SystemCalls", "TestSupport", "Probing",
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/StoreTests", swiftSettings: strict),
        .testTarget(
            name: "ThumbnailingTests",
            dependencies: [
                "Thumbnailing", "Pictures", "Content", "Model", "SystemCalls", "CWorkerShim",
                "shapeedit-thumbnailer", "TestSupport", "Probing", "Drawing",
            ],
            path: "Tests/ThumbnailingTests", swiftSettings: strict),
        .testTarget(
            name: "MountTests",
            dependencies: ["TestSupport", "Probing", "CKernel", "shapeedit-probe"],
            path: "Tests/MountTests",
            exclude: [
                "Claims/control.py", "Claims/hostile.py", "Events/visible.py",
                "Promises/rings.py",
                "Promises/s3_mirror.py",
                "Promises/s3_request.py",
                "TornReads/exchanged.py",
                "TornReads/renamed.py",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "CommandTests",
            dependencies: ["TestSupport", "Probing", "shapeedit-probe"],
            path: "Tests/CommandTests",
            exclude: [
                "Outputs/read_pictures.py", "Outputs/read_documents.py", "Recents/bookmarks.py",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "FaultTests",
            dependencies: [
                "Stores", "Model", "SystemCalls", "TestSupport", "Probing", "CKernel",
                "shapeedit-probe",
            ],
            path: "Tests/FaultTests", swiftSettings: strict),
    ]
)
