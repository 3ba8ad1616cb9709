package clouds

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
)

// whole answers generateContent: the events of a stream as one response. Its lines
// are broken, as Google's are.
func (c *geminiCall) whole(w http.ResponseWriter, r *http.Request, body []byte) {
	events := httptest.NewRecorder()
	c.generate(events, r, body)
	if events.Code != http.StatusOK {
		maps.Copy(w.Header(), events.Header())
		w.WriteHeader(events.Code)
		_, _ = w.Write(events.Body.Bytes())
		return
	}
	all := map[string]any{}
	var parts []any
	for line := range strings.SplitSeq(events.Body.String(), "\r\n") {
		data, ok := strings.CutPrefix(line, "data: ")
		var event map[string]any
		if !ok || json.Unmarshal([]byte(data), &event) != nil {
			continue
		}
		list, _ := event["candidates"].([]any)
		for _, element := range list {
			content, _ := element.(map[string]any)["content"].(map[string]any)
			more, _ := content["parts"].([]any)
			parts = append(parts, more...)
			element.(map[string]any)["content"] = map[string]any{"role": "model", "parts": parts}
		}
		maps.Copy(all, event)
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	text, _ := json.MarshalIndent(all, "", "  ")
	_, _ = w.Write(text)
}

// embedOne answers embedContent, as embed does for many texts.
func embedOne(w http.ResponseWriter, body []byte) {
	var asked struct {
		Content struct{ Parts []struct{ Text string } }
	}
	if json.Unmarshal(body, &asked) != nil || len(asked.Content.Parts) != 1 {
		googleError(w, 400, "INVALID_ARGUMENT", "Invalid JSON payload received.")
		return
	}
	_, _ = fmt.Fprintf(w, `{"embedding":{"values":[%d,0]},"usageMetadata":{"promptTokenCount":3}}`, len(asked.Content.Parts[0].Text))
}
