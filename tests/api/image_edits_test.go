package api

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

const editsV1 = "/v1/images/edits"

// field is a part of a form, with its delimiter.
func field(header, value string) string {
	return "--cut\r\nContent-Disposition: form-data; name=" + header + "\r\n\r\n" + value + "\r\n"
}

// sendForm posts parts as a form.
func sendForm(h *harness.Gateway, path, key, body string) harness.Answer {
	r := h.Client.Request(path, key, body)
	r.Header.Set("Content-Type", "multipart/form-data; boundary=cut")
	return h.Client.Send(r)
}

const png = "\x89PNG\r\n\x1a\n\x00--cu"

func TestTheValuesOfAFormReachTheProviderByteForByte(t *testing.T) {
	h := startImages(t, harness.Setup{})
	before := field(`"image[]"; filename="a ü.png"`+"\r\nContent-Type: image/png", png) + field(`"image[]"; filename="b.png"`, png+"b") + field(`"mask"; filename="m.png"`, "m")
	sent := field("\"image[]\"; filename=\"file.png\"\r\nContent-Type: image/png", png) + field(`"image[]"; filename="file.png"`, png+"b") + field(`"mask"; filename="file.png"`, "m")
	after := field(`"n"`, "2") + field(`"quality"`, "low") + field(`"prompt"`, "a red fox")
	for _, order := range [][2]string{{before, after}, {after, before}} {
		a := sendForm(h, editsV1, "chat", order[0]+field(`"model"`, "fake/gpt-image-1")+order[1]+"--cut--\r\n")
		if body := harness.Parse(t, a.Body); a.Status != 200 || harness.At(body, "data", 1, "b64_json") != "a red fox" {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		requests := h.Provider.Fake.Requests()
		up := requests[len(requests)-1]
		if want := strings.Replace(order[0]+field(`"model"`, "gpt-image-1")+order[1]+"--cut--\r\n", before, sent, 1); up.Path != editsV1 || string(up.Body) != want {
			t.Errorf("upstream %s %q, want %q", up.Path, up.Body, want)
		}
		if got := up.Header("Content-Type"); len(got) != 1 || got[0] != "multipart/form-data; boundary=cut" {
			t.Errorf("upstream %v", got)
		}
		row := h.Records.Row(a.Header.Get("X-Request-Id"))
		if harness.At(row, "usage") != harness.Number("0.02181") || harness.At(row, "images") != harness.Number("2") {
			t.Errorf("%v", row)
		}
	}
}

func TestEditsInJSONMayReferToOwnFilesOnly(t *testing.T) {
	h := startImages(t, harness.Setup{})
	body := picture("fake/gpt-image-1", `,"images":[{"file_id":"file_1"}]`)
	harness.WantRefusal(t, editsV1, h.Client.Post(editsV1, "chat", body), 400, "invalid_value")
	if n := len(h.Provider.Fake.Requests()); n != 0 {
		t.Errorf("the provider got %d requests", n)
	}
	body = picture("fake/gpt-image-1", `,"images":[{"image_url":"data:image/png;base64,AAAA"}],"mask":null`)
	if a := h.Client.Post(editsV1, "chat", body); a.Status != 200 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if up := h.Provider.Request(1); string(up.Body) != strings.Replace(body, "fake/", "", 1) {
		t.Errorf("upstream %s", up.Body)
	}
}

func TestFormsAreRefusedByName(t *testing.T) {
	h := startImages(t, harness.Setup{
		Keys:    harness.Key("chat", "guardrails gate\nmax_body 4KiB") + harness.Key("full", "guardrails mask") + harness.DefaultKeys[strings.Index(harness.DefaultKeys, "key models"):],
		Options: "guardrail gate {\non input\ndeny words forbidden\n}\nguardrail mask {\non input\nredact email\n}",
	})
	model, prompt, image, end := field(`"model"`, "fake/echo"), field(`"prompt"`, "a fox"), field(`"image"; filename="a.png"`, png), "--cut--\r\n"
	for _, c := range []struct {
		name, key, body string
		status          int
		code            string
	}{
		{"two models", "chat", model + model + prompt + image + end, 400, "invalid_value"},
		{"a model in a file", "chat", field(`"model"; filename=""`, "fake/echo") + prompt + image + end, 400, "invalid_value"},
		{"no model", "chat", prompt + image + end, 400, "missing_required_parameter"},
		{"no prompt", "chat", model + image + end, 400, "missing_required_parameter"},
		{"a number in a file", "chat", model + prompt + field(`"n"; filename="n"`, "1") + end, 400, "invalid_value"},
		{"no number", "chat", model + prompt + image + field(`"n"`, "two") + end, 400, "invalid_value"},
		{"a broken boundary", "chat", model + prompt + "--cut" + image + end, 400, "invalid_value"},
		{"cut off", "chat", model + prompt + image, 400, "invalid_value"},
		{"too large", "chat", model + prompt + field(`"image"; filename="a.png"`, strings.Repeat("a", 4<<10)) + end, 413, "request_too_large"},
		{"a guardrail", "chat", model + field(`"prompt"`, "a forbidden fox") + image + end, 422, "guardrail_blocked"},
		{"the scope", "models", model + prompt + image + end, 403, "insufficient_scope"},
	} {
		a := sendForm(h, editsV1, c.key, c.body)
		if a.Status != c.status {
			t.Errorf("%s: %d %s", c.name, a.Status, a.Body)
		}
		harness.WantRefusal(t, editsV1, a, c.status, c.code)
	}
	if n := len(h.Provider.Fake.Requests()); n != 0 {
		t.Errorf("the provider got %d requests", n)
	}
	a := sendForm(h, editsV1, "full", image+field(`"prompt"`, "for jane@corp.example\r\n\"now\"")+model+end)
	want := field(`"image"; filename="file.png"`, png) + field(`"prompt"`, "for [REDACTED:email]\r\n\"now\"") + field(`"model"`, "echo") + end
	if up := h.Provider.Request(1); a.Status != 200 || string(up.Body) != want {
		t.Errorf("%d %s, upstream %q, want %q", a.Status, a.Body, up.Body, want)
	}
}
