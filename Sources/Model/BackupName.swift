/// Whether a name is made from another one, as a backup's is. What is renamed over a file is a backup
/// only then: a temporary file need not be new, nor made by who renames it.
package func isBackupName(_ name: [UInt8], of oldName: [UInt8]) -> Bool {
    name.count > oldName.count && name.contains(oldName)
}
