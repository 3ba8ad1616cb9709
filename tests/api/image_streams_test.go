package api

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

func TestPicturesArriveOneByOne(t *testing.T) {
	h := startImages(t, harness.Setup{})
	h.Provider.Fake.Become("gpt-image-1", "step-picture")
	s := h.Client.Open(h.Client.Request(imagesV1, "chat", picture("fake/gpt-image-1", `,"stream":true,"partial_images":2`)))
	for _, name := range []string{"image_generation.partial_image", "image_generation.partial_image", "image_generation.completed"} {
		if e := s.MustNext(); e.Name != name || harness.At(harness.Parse(t, []byte(e.Data)), "b64_json") != "a red fox" {
			t.Fatalf("%+v, want %s", e, name)
		}
		h.Provider.Fake.Step("step-picture", 1)
	}
	if rest, err := s.ReadAll(); err != nil || len(rest) != 0 {
		t.Errorf("after the picture: %q, %v", rest, err)
	}
	row := h.Records.Row(s.Response.Header.Get("X-Request-Id"))
	if harness.At(row, "usage") != harness.Number("0.01093") || harness.At(row, "usage_source") != "provider" || harness.At(row, "images") != harness.Number("1") {
		t.Errorf("%v", row)
	}
}

func TestStreamsOfPicturesEndAndAreCharged(t *testing.T) {
	for behaviour, c := range map[string]struct {
		end    string // of what the client gets
		broken bool
		usage  string
		code   any
	}{
		"no-stream":       {`"usage":`, false, "0.01093", nil},
		"err-mid-stream":  {`data: {"error":{"message":`, false, "", "upstream_error"},
		"cut-clean":       {`data: {"error":{"message":`, false, "", "upstream_error"},
		"cut-mid-stream":  {`data: {"error":{"message":`, false, "", "upstream_error"},
		"err-first-event": {`data: {"error":{"message":`, false, "0", "upstream_error"},
	} {
		h := startImages(t, harness.Setup{})
		h.Provider.Fake.Become("gpt-image-1", behaviour)
		sent := picture("fake/gpt-image-1", `,"stream":true,"quality":"low","size":"1024x1024","partial_images":2`)
		a := h.Client.Post(imagesV1, "chat", sent)
		if last := a.Body[strings.LastIndex(strings.TrimRight(string(a.Body), "\n"), "\ndata:")+1:]; a.Status == 200 && !strings.Contains(string(last), c.end) || strings.Contains(string(a.Body), "[DONE]") {
			t.Errorf("%s: %d %s", behaviour, a.Status, a.Body)
		}
		row := h.Records.Row(a.Header.Get("X-Request-Id"))
		if c.usage == "" { // the prompt by its bytes, and the picture with its parts, which was made
			prompt := int64(len(sent)+3) / 4
			cost := harness.Nano(t, harness.At(row, "usage").(json.Number))
			if want := prompt*5_000 + (272+200)*40_000; cost != want || harness.At(row, "usage_source") != "estimated" {
				t.Errorf("%s: %d, want %d: %v", behaviour, cost, want, row)
			}
		} else if harness.At(row, "usage") != harness.Number(c.usage) {
			t.Errorf("%s: %v", behaviour, row)
		}
		if got := harness.At(row, "code"); got != c.code {
			t.Errorf("%s: %v", behaviour, got)
		}
	}
}

func TestStreamsOfPicturesAreJudged(t *testing.T) {
	h := startImages(t, harness.Setup{Keys: harness.Key("chat", "guardrails gate"), Options: "guardrail gate {\non output\ndeny words forbidden\n}"})
	for text, code := range map[string]string{"red": "", "forbidden": "guardrail_blocked"} {
		a := h.Client.Post(imagesV1, "chat", strings.Replace(picture("fake/gpt-image-1", `,"stream":true,"partial_images":1`), "red", text, 1))
		if got := strings.Contains(string(a.Body), "guardrail_blocked"); got != (code != "") || got == strings.Contains(string(a.Body), "a "+text+" fox") {
			t.Errorf("%s: %d %s", text, a.Status, a.Body)
		}
	}
}

func TestOpenRoutersImagesHaveItsShapes(t *testing.T) {
	const path = "/api/v1/images"
	h := startImages(t, harness.Setup{})
	sent := picture("router/echo", `,"aspect_ratio":"16:9","resolution":"2K","input_references":[{"image_url":{"url":"https://x.example/a.png"}}]`)
	a := h.Client.Post(path, "chat", sent)
	if harness.At(harness.Parse(t, a.Body), "data", 0, "b64_json") != "a red fox" {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	if up := h.Provider.Request(1); up.Path != path || string(up.Body) != strings.Replace(sent, "router/", "", 1) {
		t.Errorf("upstream %s %s", up.Path, up.Body)
	}
	a = h.Client.Post(path, "chat", picture("router/echo", `,"stream":true`))
	if body := string(a.Body); a.Status != 200 || strings.Count(body, ".completed") == 0 || !strings.HasSuffix(body, "\n\ndata: [DONE]\n\n") {
		t.Errorf("%d %s", a.Status, body)
	}
	a = h.Client.Post(path, "chat", picture("router/cut-clean", `,"stream":true,"partial_images":3`))
	if body := string(a.Body); !jsontest.Has(t, body, `{"type":"error"}`) || jsontest.String(t, body, "message") == "" || strings.Contains(body, "[DONE]") {
		t.Errorf("%d %s", a.Status, body)
	}
	a = h.Client.Post(path, "chat", picture("router/no-stream", `,"stream":true`))
	if body := string(a.Body); a.Status != 200 || len(jsontest.Values(t, body, "created")) == 0 || strings.Contains(body, "created_at") {
		t.Errorf("%d %s", a.Status, body)
	}
	harness.WantRefusal(t, path, h.Client.Post(path, "chat", picture("fake/gpt-image-1", "")), 404, "model_not_callable")
	harness.WantRefusal(t, imagesV1, h.Client.Post(imagesV1, "chat", picture("router/echo", "")), 404, "model_not_callable")
}
