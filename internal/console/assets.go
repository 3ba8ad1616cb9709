package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gatehouse-proxy/gatehouse/internal/console/novnc"
)

//go:embed assets
var ownAssets embed.FS

const assetPrefix = Prefix + "/assets/"

// asset is a file that pages load.
type asset struct {
	mediaType     string
	plain, zipped []byte
}

// assetTypes has the media type of each ending. The system's table may say something else, and
// with nosniff a browser would then not run a module.
var assetTypes = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

// assetTree has all files by their path, and the URL below which they are. One hash of all names
// and contents is in that URL, so that browsers may keep the files without asking: modules import each
// other by relative paths, so a hash in each name would not do.
var assetTree = sync.OnceValues(func() (map[string]asset, string) {
	contents := make(map[string][]byte)
	for name, content := range novnc.Files() {
		contents["novnc/"+name] = content
	}
	_ = fs.WalkDir(ownAssets, "assets", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			contents[strings.TrimPrefix(name, "assets/")], err = ownAssets.ReadFile(name)
		}
		return err
	}) // an embedded tree can be read
	files, sum := make(map[string]asset), sha256.New()
	for _, name := range slices.Sorted(maps.Keys(contents)) {
		mediaType, content := assetTypes[path.Ext(name)], contents[name]
		if mediaType == "" {
			continue // a licence
		}
		fmt.Fprintf(sum, "%s %d ", name, len(content))
		_, _ = sum.Write(content) // never fails (hash)
		files[name] = asset{mediaType, content, zip(content)}
	}
	return files, assetPrefix + hex.EncodeToString(sum.Sum(nil)[:8]) + "/"
})

// assetURL is the URL below which the files of this program are.
func assetURL() string {
	_, url := assetTree()
	return url
}

func zip(content []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(content) // into memory
	_ = w.Close()
	return out.Bytes()
}

// assets serves the files. They are the same for everybody and need no session.
func assets() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		files, url := assetTree()
		name, current := strings.CutPrefix(r.URL.Path, url)
		file, found := files[name]
		if !current || !found {
			http.NotFound(w, r)
			return
		}
		h, content := w.Header(), file.plain
		h.Set("Content-Type", file.mediaType)
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
		h.Set("Vary", "Accept-Encoding")
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			h.Set("Content-Encoding", "gzip")
			content = file.zipped
		}
		h.Set("Content-Length", strconv.Itoa(len(content)))
		if r.Method != http.MethodHead {
			_, _ = w.Write(content) // the browser may have left
		}
	})
}
