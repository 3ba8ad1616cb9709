package form_test

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/form"
)

const contentType = `multipart/form-data; boundary=b0`

// part is a field with its delimiter.
func part(header, value string) string {
	return "--b0\r\nContent-Disposition: form-data; " + header + "\r\n\r\n" + value + "\r\n"
}

func parse(t *testing.T, body string) *form.Form {
	t.Helper()
	f, err := form.Parse([]byte(body), contentType, "image", "image[]")
	if err != nil {
		t.Fatalf("%q: %v", body, err)
	}
	return f
}

// edit returns the form with one edit of its view.
func edit(t *testing.T, f *form.Form, before, after string) string {
	t.Helper()
	view := f.JSON("n", "stream")
	pieces, err := f.Segments([]byte(strings.Replace(string(view), before, after, 1)))
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes.Join(pieces, nil))
}

func TestAFormIsSeenAsAnObject(t *testing.T) {
	f := parse(t, part(`name="image[]"; filename="a b.png"`+"\r\nContent-Type: image/PNG; x=y", "\x89PNG\r\n\x00")+part(`name="prompt"`, "a \"fox\"\r\nand ü")+
		part(`name="image[]"; filename=""`, "")+part(`name=n`, "2")+part(`name="stream"`, "true")+part(`name="user"`, "7")+part(`name="tag"`, "a")+part(`name="tag"`, "b")+"--b0--\r\n")
	view := f.JSON("n", "stream")
	want := `{"image[]":[7,0],"prompt":"a \"fox\"\r\nand ü","n":2,"stream":true,"user":"7","tag":["a","b"]}`
	if string(view) != want {
		t.Errorf("%s, want %s", view, want)
	}
	if p := f.Parts()[0]; p.Name != "image[]" || p.Extension != "png" || p.ContentType != "image/png" || !p.File || string(f.Value(&p)) != "\x89PNG\r\n\x00" {
		t.Errorf("%+v", p)
	}
	for value, want := range map[string]string{"02": `"02"`, "1e2": `"1e2"`, "": `""`, "-1": `"-1"`, "False": `"False"`, strings.Repeat("9", 19): `"` + strings.Repeat("9", 19) + `"`, "0": "0", "false": "false"} {
		if view := parse(t, part(`name="n"`, value)+"--b0--").JSON("n"); string(view) != `{"n":`+want+`}` {
			t.Errorf("%q: %s", value, view)
		}
	}
}

func TestOnlyWhatChangedIsWrittenAnew(t *testing.T) {
	file, model, prompt := part("name=\"image\"; filename=\"file.png\"\r\nContent-Type: image/png", "\x00\xff--b1\r\n\r\n"), part(`name="model"`, "acme/p"), part(`name="prompt"`, "call 555")
	f := parse(t, file+model+prompt+part(`name="tag"`, "a")+part(`name="tag"`, "b")+"--b0--\r\n")
	rest := part(`name="tag"`, "a") + part(`name="tag"`, "b") + "--b0--\r\n"
	for _, c := range []struct{ before, after, want string }{
		{"", "", file + model + prompt + rest},
		{`"acme/p"`, `"p\u00e4"`, file + part(`name="model"`, "pä") + prompt + rest},
		{`call 555`, `call ***`, file + model + part(`name="prompt"`, "call ***") + rest},
		{`"prompt":"call 555",`, ``, file + model + rest},
		{`"b"]`, `"c"],"extra":{"a":1}`, file + model + prompt + part(`name="tag"`, "a") + part(`name="tag"`, "c") + part(`name="extra"`, `{"a":1}`) + "--b0--\r\n"},
		{`"image":12`, `"image":0`, file + model + prompt + rest}, // files never change
	} {
		if got := edit(t, f, c.before, c.after); got != c.want {
			t.Errorf("%s for %s: %q, want %q", c.after, c.before, got, c.want)
		}
	}
	for _, edited := range []string{`{"model":"x--b0"}`, `{"new":"--b0"}`} {
		if _, err := f.Segments([]byte(edited)); !errors.Is(err, form.ErrDelimiter) {
			t.Errorf("%s: %v", edited, err)
		}
	}
	if _, err := f.Segments([]byte(`{`)); err == nil {
		t.Error("no object is a view")
	}
}

func TestBrokenFormsAreRefused(t *testing.T) {
	good := part(`name="model"`, "m") + "--b0--\r\n"
	for name, body := range map[string]string{
		"nothing":            "",
		"a preamble":         "x\r\n" + good,
		"an epilogue":        good + "x",
		"cut in a value":     good[:len(good)-12],
		"cut in the end":     good[:len(good)-4],
		"cut after a head":   "--b0",
		"a line feed":        strings.ReplaceAll(good, "\r\n", "\n"),
		"a line feed before": strings.Replace(good, "m\r\n", "m\n", 1),
		"a longer boundary":  part(`name="model"`, "m\r\n--b0x") + "--b0--",
		"a boundary inside":  part(`name="model"`, "x --b0 y") + "--b0--",
		"one in a header":    part("name=\"a\"\r\n--b0: x", "m") + "--b0--",
		"no name":            part(`filename="x"`, "m") + "--b0--",
		"an escaped name":    part(`name="mo\[del"`, "m") + "--b0--",
		"a name in utf-8":    part(`name*=utf-8''model`, "m") + "--b0--",
		"two names":          part(`name="a"; name="model"`, "m") + "--b0--",
		"another name":       part(`name="a b"`, "m") + "--b0--",
		"a quoted quote":     part(`name="image"; filename="a\"; x=\"b"`, "m") + "--b0--",
		"an odd type":        part("name=\"image\"; filename=\"x\"\r\nContent-Type: image/../video/mp4", "m") + "--b0--",
		"a charset field":    part(`name="_charset_"`, "utf-16") + "--b0--",
		"a charset":          part("name=\"a\"\r\nContent-Type: text/plain; charset=utf-16", "m") + "--b0--",
		"no UTF-8":           part(`name="a"`, "\xff") + "--b0--",
		"an encoding":        part("name=\"a\"\r\nContent-Transfer-Encoding: quoted-printable", "m") + "--b0--",
		"a folded line":      part("name=\"a\";\r\n filename=x", "m") + "--b0--",
		"two dispositions":   part("name=\"a\"\r\nContent-Disposition: form-data; name=\"model\"", "m") + "--b0--",
		"an attachment":      strings.Replace(good, "form-data", "attachment", 1),
		"an odd key":         part("name=\"a\"\r\n\"x: y", "m") + "--b0--",
		"no header":          "--b0\r\n\r\nx\r\n--b0--",
		"a long header":      part(`name="a"; filename="`+strings.Repeat("x", form.MaxHeader)+`"`, "m") + "--b0--",
		"many parts":         strings.Repeat(part(`name="a"`, ""), form.MaxParts+1) + "--b0--",
		"long texts":         part(`name="a"`, strings.Repeat("x", form.MaxText)) + part(`name="b"`, "x") + "--b0--",
	} {
		if _, err := form.Parse([]byte(body), contentType, "image", "a", "model"); err == nil {
			t.Errorf("%s is taken: %.200q", name, body)
		}
	}
	for _, media := range []string{"multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=\"a*b\"", "multipart/form-data; boundary=" + strings.Repeat("b", 71)} {
		if _, err := form.Parse([]byte(good), media); err == nil || !form.Is(media) {
			t.Errorf("%s: %v", media, err)
		}
	}
	if form.Is("application/json") || form.Is("") {
		t.Error("JSON is a form")
	}
}

// A provider could read a text that has the name of a file as a text all the same.
func TestOnlyFilesHaveAFileName(t *testing.T) {
	for _, header := range []string{
		`name="prompt"; filename=""`, `name="prompt"; filename="x.txt"`, `filename=x; name=prompt`, `name="prompt"; FileName="x"`, `name="prompt"; filename*=utf-8''x`,
		`name="prompt"; filename*=iso-8859-1''x`, `name="prompt"; filename*0="x"`, `name="prompt"; filename =x`, `name="prompt"; filename`,
	} {
		_, err := form.Parse([]byte(part(header, "m")+"--b0--"), contentType, "file", "image")
		var named *form.FileNameError
		switch {
		case errors.As(err, &named) && named.Field == "prompt":
		case err == nil || !strings.Contains(header, "filename*") && header != `name="prompt"; filename`:
			t.Errorf("%s: %v", header, err)
		}
	}
	f, err := form.Parse([]byte(part(`name="filename"`, "m")+part(`name="file"; filename=""`, "")+"--b0--"), contentType, "file")
	if err != nil || string(f.JSON()) != `{"filename":"m","file":0}` {
		t.Errorf("a field of that name: %v", err)
	}
}

// What nobody judges does not pass.
func TestAHeaderHasTheExtensionAndTheTypeAlone(t *testing.T) {
	for header, want := range map[string]string{
		`filename="secret.WAV"` + "\r\nX-Note: call 555\r\nContent-Type: Audio/Webm; codecs=\"call 555\"": "file.WAV\"\r\nContent-Type: audio/webm",
		`filename=""`:                      "file\"",
		`filename="secret"; size=5; x="y"`: "file\"",
		`filename="a.call the boss"`:       "file\"",
		`filename="a.b.c"`:                 "file.c\"",
		`filename="a.123456789"`:           "file\"",
		`filename*=utf-8''%41.mp3`:         "file.mp3\"",
		`filename*=iso-8859-1''a.mp3`:      "file\"",
	} {
		f := parse(t, part(`name="image"; `+header, "\x00")+part("name=\"model\"\r\nX: call 555\r\nContent-Type: text/plain", "m")+"--b0--")
		got := edit(t, f, "", "")
		if want := part("name=\"image\"; filename=\""+want, "\x00") + part(`name="model"`, "m") + "--b0--\r\n"; got != want {
			t.Errorf("%s: %q", header, got)
		}
	}
}

// FuzzForm holds that what is taken means the same to another parser, as it came, as it is sent, and
// after an edit.
func FuzzForm(f *testing.F) {
	f.Add(part(`name="image"; filename="x"`, "\x00--b1\r\n")+part(`name="model"`, "acme/p")+"--b0--\r\n", "p")
	f.Add(part(`name="a[]"`, "x")+part(`name="a[]"`, "y")+part("name=file; filename*=utf-8''x\r\nContent-Type: text/plain", "2")+"--b0--", "--b0")
	f.Fuzz(func(t *testing.T, body, model string) {
		scanned, err := form.Parse([]byte(body), contentType, "image", "file")
		if err != nil {
			return
		}
		compare(t, scanned, []byte(body), "")
		view := scanned.JSON()
		same, err := scanned.Segments(view)
		if err != nil {
			if strings.Contains(err.Error(), "duplicate") || strings.Contains(err.Error(), "key") {
				return // names that fold to one: the view is refused
			}
			t.Fatalf("%q: %v", view, err)
		}
		compare(t, scanned, bytes.Join(same, nil), "")
		edited := bytes.Replace(view, []byte(`"model":"acme/p"`), []byte(`"model":"other"`), 1)
		pieces, err := scanned.Segments(edited)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(edited, view) {
			compare(t, scanned, bytes.Join(pieces, nil), "other")
		}
	})
}

// compare holds that mime/multipart reads the same parts, but for another model.
func compare(t *testing.T, f *form.Form, body []byte, model string) {
	t.Helper()
	_, params, _ := mime.ParseMediaType(f.ContentType())
	r := multipart.NewReader(bytes.NewReader(body), params["boundary"])
	for i := range f.Parts() {
		p := f.Parts()[i]
		other, err := r.NextRawPart()
		if err != nil {
			t.Fatalf("%q: part %d: %v", body, i, err)
		}
		value, err := io.ReadAll(other)
		want := string(f.Value(&p))
		if model != "" && p.Name == "model" && !p.File && want == "acme/p" {
			want = model
		}
		if err != nil || other.FormName() != p.Name || string(value) != want {
			t.Fatalf("%q: part %d is %q %q, want %q %q; %v", body, i, other.FormName(), value, p.Name, want, err)
		}
	}
	if _, err := r.NextRawPart(); err != io.EOF {
		t.Fatalf("%q: more parts: %v", body, err)
	}
}
