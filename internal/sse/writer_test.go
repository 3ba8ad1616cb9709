package sse_test

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/sse"
)

func TestAppend(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{string(sse.AppendComment(nil, "wait")), ": wait\n\n"},
		{string(sse.AppendComment([]byte("x"), "")), "x: \n\n"},
		{string(sse.AppendComment(nil, "a\nb\r\nc\rd\n")), ": a\n: b\n: c\n: d\n: \n\n"},
		{string(sse.AppendComment(nil, "a\n\ndata: b")), ": a\n: \n: data: b\n\n"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}

func FuzzCommentsAreOneBlock(f *testing.F) {
	f.Add("c")
	f.Add("\r\n\r\r\ndata: b")
	f.Add(" é\n")
	f.Fuzz(func(t *testing.T, comment string) {
		stream := sse.AppendComment(nil, comment)
		if len(stream) > 1<<20 {
			return
		}
		reader := sse.NewReader(strings.NewReader(string(stream)), 1<<20)
		event, err := reader.Next()
		if err != nil || !event.Comment || string(event.Raw) != string(stream) {
			t.Fatalf("comment %q: %s, %v", comment, show(event), err)
		}
		if _, err = reader.Next(); err != io.EOF {
			t.Fatalf("then %v", err)
		}
	})
}

// simple reads a whole stream line by line, as section 9.2.6 says. Reader must give the same
// events.
func simple(stream string) (events []string) {
	stream = strings.TrimPrefix(stream, "\xef\xbb\xbf")
	stream = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(stream)
	var name string
	var data []string
	for line := range strings.SplitSeq(stream+"\n\n", "\n") { // an unterminated event counts
		if line == "" {
			if data != nil {
				events = append(events, name+"|"+strings.Join(data, "\n"))
			}
			name, data = "", nil
			continue
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "data":
			data = append(data, value)
		case "event":
			name = value
		}
	}
	return events
}

func FuzzAnySplitGivesTheSameEvents(f *testing.F) {
	for _, seed := range []string{
		"data: a\n\n: x\n\ndata: b\r\ndata: c\r\n\r\nevent: x\rdata: d\r\rdata: e\r\r\n\r\r\r\ndata: f",
		"\xef\xbb\xbfdata: 東京\n\n\n\nid: 1\nretry: 2\n\n\rdata\r", "\xef\xbb", ":\t\r", "data: b\r\n\r",
	} {
		f.Add([]byte(seed), []byte{1})
		f.Add([]byte(seed), []byte{3, 1, 2})
	}
	f.Fuzz(func(t *testing.T, stream, sizes []byte) {
		var parts []string
		rest := string(stream)
		for i := 0; rest != "" && len(sizes) > 0; i++ {
			n := min(1+int(sizes[i%len(sizes)]), len(rest))
			parts, rest = append(parts, rest[:n]), rest[n:]
		}
		if rest != "" {
			parts = append(parts, rest)
		}
		for _, bound := range []int{20, 1 << 20} {
			want, wantErr := all(strings.NewReader(string(stream)), bound)
			got, err := all(&source{parts: slices.Clone(parts), err: io.EOF}, bound)
			if err != wantErr || !slices.Equal(got, want) {
				t.Fatalf("%q in %q, bound %d:\n got %v, %v\nwant %v, %v", stream, parts, bound, got, err, want, wantErr)
			}
		}

		var read []string
		reader := sse.NewReader(&source{parts: slices.Clone(parts), err: io.EOF}, 1<<20)
		from := strings.TrimPrefix(string(stream), "\xef\xbb\xbf")
		for {
			event, err := reader.Next()
			if err != nil {
				break
			}
			if event.Data != nil {
				read = append(read, string(event.Name)+"|"+string(event.Data))
			}
			// Only line ends are between the bytes of two events.
			from = strings.TrimLeft(from, "\r\n")
			raw := string(event.Raw)
			if !strings.HasPrefix(from, raw) && strings.TrimRight(raw, "\n") != strings.TrimRight(from, "\n") {
				t.Fatalf("%q: event %q is not what the stream goes on with: %q", stream, raw, from)
			}
			from = from[min(len(raw), len(from)):]
		}
		if want := simple(string(stream)); !slices.Equal(read, want) {
			t.Fatalf("%q: read %q, want %q", stream, read, want)
		}
	})
}
