package jsonscan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// chatBody is a chat request of about size bytes whose prompt repeats unit.
func chatBody(size int, unit string) []byte {
	head, tail := `{"model":"test/echo","messages":[{"role":"user","content":"`, `"}],"stream":true,"temperature":0.2}`
	fill := max(1, (size-len(head)-len(tail))/len(unit))
	return []byte(head + strings.Repeat(unit, fill) + tail)
}

// sourceCode has lines and words of uneven lengths, a letter outside ASCII and some Chinese.
const sourceCode = `// Add puts b on the shelf and saves the list, as the Café next door does with its menu.
func (s *Shelf) Add(ctx context.Context, b Book) error {
	if b.Title == "" {
		return fmt.Errorf("adding a book: no title")
	}
	// A shelf without a limit takes every book, however many there are already.
	if s.limit > 0 && len(s.books) >= s.limit {
		return fmt.Errorf("the shelf is full: %d books", s.limit)
	}
	s.books[b.Title] = b
	return s.save(ctx, "books.json")
}

// Titles lists the titles of all books in their order. The caller may change the list.
func (s *Shelf) Titles() []string {
	names := make([]string, 0, len(s.books))
	for name := range s.books {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// 標題 are the texts of the page in one language.
var titles = map[string]string{
	"home":  "The shelf of our library",
	"empty": "Nothing here \\ \"yet\"",
}
`

var prompts = []struct{ name, unit string }{
	{"plain", "the quick brown fox jumps over the lazy dog, "},
	{"quotes", `a \"quoted\" word in every so many, with some text `},
	{"dense", `an escaped quote every 35 bytes, \"`},
	{"accents", "naïve café, 東京 and Ελλάδα: "},
	{"cjk", "東京都は日本の首都であり、"},
	{"curly", "plain English prose with one curly quote in a hundred bytes or so, as editors like to write it’s fine, "},
	{"code", strings.NewReplacer("\\", `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(sourceCode)},
	{"json", `{\"type\":\"text\",\"text\":\"he said \\\"yes\\\"\",\"index\":12}, `},
	{"unicode", `na\u00efve caf\u00e9, \u6771\u4eac and \u0395\u03bb\u03bb\u03ac\u03b4\u03b1: `},
	{"base64", "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"},
	{"lines", "plain prose with an escaped line end in every hundred bytes or so, such as a chat holds all the time\\n"},
}

func BenchmarkStrict(b *testing.B) {
	for _, prompt := range prompts {
		for _, size := range []int{1 << 10, 32 << 10, 1 << 20, 8 << 20} {
			b.Run(fmt.Sprintf("%s/%dK", prompt.name, size>>10), func(b *testing.B) {
				body := chatBody(size, prompt.unit)
				var storage [16]jsonscan.Member
				b.SetBytes(int64(len(body)))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := jsonscan.StrictAll(body, storage[:0]); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkStrictWorstKeys(b *testing.B) {
	parts := make([]string, jsonscan.MaxMembers)
	for i := range parts {
		parts[i] = fmt.Sprintf(`"%0*d":1`, jsonscan.MaxKey, i)
	}
	body := []byte("{" + strings.Join(parts, ",") + "}")
	storage := make([]jsonscan.Member, 0, jsonscan.MaxMembers)
	for b.Loop() {
		if _, err := jsonscan.Strict(body, storage); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPatch(b *testing.B) {
	body := chatBody(32<<10, prompts[0].unit)
	members, err := jsonscan.Strict(body, nil)
	if err != nil {
		b.Fatal(err)
	}
	model, options := []byte(`"upstream-name"`), []byte(`{"include_usage":true}`)
	var storage [8][]byte
	b.ReportAllocs()
	for b.Loop() {
		patch := jsonscan.NewPatch(body, members)
		patch.Set(0, model)
		patch.Add("stream_options", options)
		if patch.Len() == 0 || len(patch.Segments(storage[:0])) == 0 {
			b.Fatal("empty")
		}
	}
}

func BenchmarkWalk(b *testing.B) {
	bodies := map[string][]byte{"nested": []byte(strings.Repeat(`{"type":"function","strict":false,"properties":{"n":{"type":"integer","minimum":1}},"required":["n"]},`, 500))}
	for _, prompt := range prompts {
		bodies[prompt.name] = chatBody(32<<10, prompt.unit)
	}
	for name, body := range bodies {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				w := jsonscan.Walk(body)
				for t, ok := w.Next(); ok; t, ok = w.Next() {
					if t.End <= t.Start {
						b.Fatal("an empty token")
					}
				}
			}
		})
	}
}

// BenchmarkBodyOfAnAgent is a body with many keys: a conversation with tools and their results.
func BenchmarkBodyOfAnAgent(b *testing.B) {
	const tools = `{"type":"function","function":{"name":"read_file","description":"Reads a file","parameters":{"type":"object","properties":{"path":{"type":"string","description":"where it is"},"limit":{"type":"integer","minimum":1}},"required":["path"]}}},`
	const turn = `{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"read_file","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call_1","content":[{"type":"text","text":"the quick brown fox jumps over the lazy dog"}]},`
	for _, size := range []int{1 << 10, 32 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("%dK", size>>10), func(b *testing.B) {
			n := max(1, size/(len(tools)+len(turn)))
			data := []byte(`{"model":"test/echo","tools":[` + strings.TrimSuffix(strings.Repeat(tools, n), ",") + `],"messages":[` + strings.TrimSuffix(strings.Repeat(turn, n), ",") + `]}`)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			var body jsonscan.Body
			defer body.Release()
			for b.Loop() {
				if err := body.Parse(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
