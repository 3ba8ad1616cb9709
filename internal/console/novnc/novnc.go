// Package novnc is the library noVNC: the VNC viewer that runs in a browser. Its files are in the
// folder package as npm has them, and vendor.json has where they come from, their licences and
// their hashes. To take another version, replace the files and vendor.json; nothing here is edited
// by hand.
package novnc

import (
	"embed"
	"io/fs"
	"path"
	"strings"
)

// What noVNC brings of other projects is in its folder vendor/pako. Here that is package/pako: Go
// leaves folders named vendor out of the archives of modules.
const vendored, ours = "vendor/pako", "pako"

//go:embed package
var files embed.FS

// Files returns the content of each file by its name in the package of npm: "core/rfb.js" is the
// one to import, and the others are found by their paths relative to it. The licences are there too.
func Files() map[string][]byte {
	all := map[string][]byte{}
	err := fs.WalkDir(files, "package", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := files.ReadFile(file)
		name := strings.TrimPrefix(file, "package/")
		if rest, ok := strings.CutPrefix(name, ours+"/"); ok {
			name = path.Join(vendored, rest)
		}
		all[name] = content
		return err
	})
	if err != nil {
		panic(err) // the files are in the program
	}
	return all
}
