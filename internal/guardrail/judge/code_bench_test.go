package judge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
)

// code is source code, as a coding tool sends it: line ends, quotes and tabs, a letter outside
// ASCII, some Chinese.
const code = `// Shelf keeps books by their title, up to a limit that the library sets for each room.
type Shelf struct {
	books map[string]Book // by title
	limit int             // 0: there is no limit
}

// Add puts b on the shelf and saves the list of all books, as the Café next door does with its menu.
func (s *Shelf) Add(ctx context.Context, b Book) error {
	if b.Title == "" {
		return fmt.Errorf("adding a book: no title")
	}
	if _, found := s.books[b.Title]; found {
		return fmt.Errorf("%q is on the shelf already", b.Title)
	}
	s.books[b.Title] = b
	return s.save(ctx, "books.json")
}

// 標題 are the texts of the page in one language; the page shows the name where a text is missing.
var titles = map[string]string{
	"home":  "The shelf of our library",
	"empty": "Nothing here \\ \"yet\"",
}
`

// BenchmarkCode judges source code by the rules that most operators set.
func BenchmarkCode(b *testing.B) {
	set := compiled(b, judge.Spec{Name: "screen", Rules: []judge.Rule{
		{Action: judge.Deny, Detector: judge.Secrets},
		{Action: judge.Redact, Detector: judge.Email},
		{Action: judge.Redact, Detector: judge.Card},
	}})
	for _, size := range []int{1 << 10, 32 << 10} {
		text, _ := json.Marshal(strings.Repeat(code, size/len(code)+1)[:size-100])
		for _, c := range []struct {
			name, form string
			judge      func(context.Context, []byte) (guardrail.Result, error)
		}{
			{"request", `{"model":"bench/model","messages":[{"role":"system","content":"You are a helpful assistant."},{"role":"user","content":%s}],"stream":false}`, set.Request},
			{"answer", `{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":%s},` +
				`"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":12,"total_tokens":21}}`, set.Answer},
		} {
			body := fmt.Appendf(nil, c.form, text)
			b.Run(fmt.Sprintf("%s/%dKB", c.name, size>>10), func(b *testing.B) {
				b.SetBytes(int64(len(body)))
				b.ReportAllocs()
				for b.Loop() {
					if result, err := c.judge(context.Background(), body); err != nil || result.Verdict != nil || result.Body != nil {
						b.Fatal(result, err)
					}
				}
			})
		}
	}
}
