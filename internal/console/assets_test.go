package console

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
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
