package console

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

func TestTheChoiceOfColoursIsKept(t *testing.T) {
	for choice, want := range map[string]string{"dark": "dark", "light": "light", "system": "", "<x>": ""} {
		v := visiting(t, nil)
		form := url.Values{"theme": {choice}, "return": {Prefix + "/usage?range=7d"}}
		v.r = httptest.NewRequestWithContext(t.Context(), http.MethodPost, Prefix+"/theme", strings.NewReader(form.Encode()))
		v.r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if err := setTheme(v); err != nil {
			t.Fatal(err)
		}
		w := v.w.(*httptest.ResponseRecorder)
		if to := w.Header().Get("Location"); to != Prefix+"/usage?range=7d" {
			t.Errorf("the browser is sent to %s", to)
		}
		next := httptest.NewRequestWithContext(t.Context(), http.MethodGet, Prefix+"/", nil)
		for _, c := range w.Result().Cookies() {
			next.AddCookie(c)
		}
		if got := theme(next); got != want {
			t.Errorf("%s: the next page is %q", choice, got)
		}
	}
}

// A form with files would be written to the disk, of any size.
func TestTheChoiceOfColoursReadsNoFiles(t *testing.T) {
	var body bytes.Buffer
	parts := multipart.NewWriter(&body)
	if err := parts.WriteField("theme", "dark"); err != nil {
		t.Fatal(err)
	}
	if _, err := parts.CreateFormFile("file", "large"); err != nil {
		t.Fatal(err)
	}
	body.Write(bytes.Repeat([]byte("x"), 2*maxForm))
	v := visiting(t, nil)
	v.r = httptest.NewRequestWithContext(t.Context(), http.MethodPost, Prefix+"/theme", &body)
	v.r.Header.Set("Content-Type", parts.FormDataContentType())
	if err := setTheme(v); err != nil {
		t.Fatal(err)
	}
	if body.Len() < 2*maxForm || v.r.MultipartForm != nil {
		t.Errorf("of the form %d bytes are left unread", body.Len())
	}
}

func TestAFormLeadsToNoOtherSite(t *testing.T) {
	for path, want := range map[string]string{
		Prefix + "/keys": Prefix + "/keys", "": Prefix + "/", "//evil.example": Prefix + "/", "https://evil.example": Prefix + "/", Prefix + "x": Prefix + "/",
		Prefix + "/\\evil": Prefix + "/", Prefix + "/\r\nSet-Cookie: x": Prefix + "/", "/console//evil.example": "/console//evil.example",
	} {
		if got := ownPath(path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}
