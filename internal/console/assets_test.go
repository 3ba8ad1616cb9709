package console

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func getAsset(t *testing.T, path string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	assets().ServeHTTP(w, r)
	return w
}

func TestAssetsAreServedWithTheirTypeForEver(t *testing.T) {
	for name, mediaType := range map[string]string{
		"css/base.css": "text/css; charset=utf-8", "js/console.js": "text/javascript; charset=utf-8", "icon.svg": "image/svg+xml",
		"novnc/core/rfb.js": "text/javascript; charset=utf-8",
	} {
		plain := getAsset(t, assetURL()+name)
		if plain.Code != http.StatusOK || plain.Header().Get("Content-Type") != mediaType || plain.Body.Len() == 0 {
			t.Errorf("%s: %d %q, %d bytes", name, plain.Code, plain.Header().Get("Content-Type"), plain.Body.Len())
		}
		if kept := plain.Header().Get("Cache-Control"); !strings.Contains(kept, "immutable") {
			t.Errorf("%s: Cache-Control %q", name, kept)
		}
		zipped := getAsset(t, assetURL()+name, "Accept-Encoding", "br, gzip")
		if zipped.Header().Get("Content-Encoding") != "gzip" {
			t.Errorf("%s is not compressed", name)
			continue
		}
		reader, err := gzip.NewReader(zipped.Body)
		if err != nil {
			t.Fatal(err)
		}
		if content, _ := io.ReadAll(reader); string(content) != plain.Body.String() {
			t.Errorf("%s differs when it is compressed", name)
		}
	}
}

func TestOnlyFilesOfThisProgramAreAssets(t *testing.T) {
	for _, path := range []string{
		assetURL() + "none.css", assetURL(), assetURL() + "css", assetURL() + "../layout.html", assetPrefix + "0000000000000000/css/base.css",
		assetURL() + "novnc/LICENSE.txt",
	} {
		if w := getAsset(t, path); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}

// A class that no page has is dead: what pages are made of is in templates, in scripts and in texts of Go.
func TestEveryClassOfTheStylesIsUsed(t *testing.T) {
	var (
		word     = regexp.MustCompile(`[A-Za-z][\w-]*`)
		comment  = regexp.MustCompile(`(?s)/\*.*?\*/`)
		selector = regexp.MustCompile(`[^{};]+\{`)
		class    = regexp.MustCompile(`\.([A-Za-z][\w-]*)`)
		quoted   = regexp.MustCompile("\"(?:\\\\.|[^\"\\\\\n])*\"|`[^`]*`")
		series   = regexp.MustCompile(`^(s|line)\d$`) // made with a number
	)
	used := make(map[string]bool)
	for _, pattern := range []string{"*.go", "templates/*.html", "assets/js/*.js", "../chart/*.go"} {
		names, _ := filepath.Glob(pattern)
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			for _, part := range quoted.FindAll(text, -1) {
				for _, w := range word.FindAll(part, -1) {
					used[string(w)] = true
				}
			}
		}
	}
	styles, _ := filepath.Glob("assets/css/*.css")
	for _, name := range styles {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range selector.FindAll(comment.ReplaceAll(text, nil), -1) {
			for _, found := range class.FindAllSubmatch(part, -1) {
				if name := string(found[1]); !used[name] && !series.MatchString(name) {
					t.Errorf("no page has the class %s", name)
				}
			}
		}
	}
}
