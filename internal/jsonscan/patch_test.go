package jsonscan_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// rewrite applies edits in short: "a=1" sets, "-a" drops, "+a=1" adds.
func rewrite(t *testing.T, body string, changes ...string) string {
	t.Helper()
	data := []byte(body)
	members, err := jsonscan.Lenient(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	patch := jsonscan.NewPatch(data, members)
	find := func(key string) int {
		i, found := jsonscan.Find(data, members, key)
		if !found {
			t.Fatalf("%s has no member %q", body, key)
		}
		return i
	}
	for _, edit := range changes {
		switch edit[0] {
		case '-':
			patch.Drop(find(edit[1:]))
		case '+':
			patch.Add(edit[1:2], []byte(edit[3:]))
		default:
			patch.Set(find(edit[:1]), []byte(edit[2:]))
		}
	}
	if patch.Changed() != (len(changes) > 0) {
		t.Errorf("%s %v: Changed is %t", body, changes, patch.Changed())
	}
	result := patch.Append([]byte("before "))
	result, _ = bytes.CutPrefix(result, []byte("before "))
	if joined := bytes.Join(patch.Segments(nil), nil); !bytes.Equal(joined, result) {
		t.Errorf("%s %v: segments %q, want %q", body, changes, joined, result)
	}
	edits, _ := patch.Edits(nil, nil, 1)
	if applied := applyEdits(" "+body, edits); applied != " "+string(result) {
		t.Errorf("%s %v: edits %q, want %q", body, changes, applied, result)
	}
	if patch.Len() != len(result) {
		t.Errorf("%s %v: Len %d, want %d", body, changes, patch.Len(), len(result))
	}
	if string(data) != body {
		t.Errorf("%s %v: the body became %s", body, changes, data)
	}
	return string(result)
}

// applyEdits makes the changes of a text, which must be in order.
func applyEdits(text string, edits []jsonscan.Edit) (out string) {
	at := 0
	for _, e := range edits {
		out += text[at:e.From] + string(e.New)
		at = e.To
	}
	return out + text[at:]
}

func TestPatch(t *testing.T) {
	const spaced = ` { "a" : 1 , "b" : [ 2 ] ,` + "\n" + `"c":3 } `
	tests := []struct {
		body  string
		edits []string
		want  string
	}{
		{spaced, nil, spaced},
		{spaced, []string{"a=9"}, ` { "a" : 9 , "b" : [ 2 ] ,` + "\n" + `"c":3 } `},
		{spaced, []string{"c=9", "a=8"}, ` { "a" : 8 , "b" : [ 2 ] ,` + "\n" + `"c":9 } `},
		{spaced, []string{"a=8", "a=9"}, ` { "a" : 9 , "b" : [ 2 ] ,` + "\n" + `"c":3 } `},
		{spaced, []string{"-a"}, ` { "b" : [ 2 ] ,` + "\n" + `"c":3 } `},
		{spaced, []string{"-b"}, ` { "a" : 1 ,` + "\n" + `"c":3 } `},
		{spaced, []string{"-c"}, ` { "a" : 1 , "b" : [ 2 ] } `},
		{spaced, []string{"-a", "-b"}, ` { "c":3 } `},
		{spaced, []string{"-b", "-c"}, ` { "a" : 1 } `},
		{spaced, []string{"-c", "-a"}, ` { "b" : [ 2 ] } `},
		{spaced, []string{"-a", "-b", "-c"}, ` {  } `},
		{spaced, []string{"-a", "-b", "-c", "+d=4", "+e=5"}, ` { "d":4,"e":5 } `},
		{spaced, []string{"-a", "b=7", "-c"}, ` { "b" : 7 } `},
		{spaced, []string{"-a", "b=7", "c=8"}, ` { "b" : 7 ,` + "\n" + `"c":8 } `},
		{spaced, []string{"a=7", "-b", "c=8"}, ` { "a" : 7 ,` + "\n" + `"c":8 } `},
		{spaced, []string{"-a", "a=7"}, ` { "a" : 7 , "b" : [ 2 ] ,` + "\n" + `"c":3 } `},
		{spaced, []string{"a=7", "-a"}, ` { "b" : [ 2 ] ,` + "\n" + `"c":3 } `},
		{spaced, []string{"+d=4"}, ` { "a" : 1 , "b" : [ 2 ] ,` + "\n" + `"c":3,"d":4 } `},
		{spaced, []string{"+d=4", "-c", "+e=5"}, ` { "a" : 1 , "b" : [ 2 ],"d":4,"e":5 } `},
		{spaced, []string{"+d=4", "-b"}, ` { "a" : 1 ,` + "\n" + `"c":3,"d":4 } `},
		{spaced, []string{"+d=4", "c=5"}, ` { "a" : 1 , "b" : [ 2 ] ,` + "\n" + `"c":5,"d":4 } `},
		{`{}`, []string{"+a=1"}, `{"a":1}`},
		{` { } `, []string{"+a=1", "+b=2"}, ` {"a":1,"b":2 } `},
		{`{"a":1}`, []string{"-a"}, `{}`},
		{`{"a":1}`, []string{"-a", "+a=2"}, `{"a":2}`},
		{`{"a":1,"a":2}`, []string{"a=3"}, `{"a":1,"a":3}`},
	}
	for _, test := range tests {
		if got := rewrite(t, test.body, test.edits...); got != test.want {
			t.Errorf("%q %v:\n got %q\nwant %q", test.body, test.edits, got, test.want)
		}
	}
}

func TestManyEditsAtOnce(t *testing.T) {
	const n = 40
	data := []byte(wideObject(n))
	members, err := jsonscan.Strict(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	patch := jsonscan.NewPatch(data, members)
	want := map[string]int{}
	for i := n - 1; i >= 0; i-- { // the order in which they come does not matter
		switch i % 3 {
		case 0:
			patch.Drop(i)
		case 1:
			patch.Set(i, fmt.Appendf(nil, "%d", 100+i))
			want[fmt.Sprintf("k%d", i)] = 100 + i
		default:
			patch.Add(fmt.Sprintf("new%d", i), fmt.Appendf(nil, "%d", i))
			want[fmt.Sprintf("k%d", i)] = i
			want[fmt.Sprintf("new%d", i)] = i
		}
	}
	var got map[string]int
	if err := json.Unmarshal(patch.Append(nil), &got); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestSegmentsShareTheBody(t *testing.T) {
	data := []byte(`{"model":"x","messages":[1,2,3]}`)
	members, err := jsonscan.Strict(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	patch := jsonscan.NewPatch(data, members)
	patch.Set(0, []byte(`"y"`))
	segments := patch.Segments(nil)
	if len(segments) != 3 || &segments[0][0] != &data[0] || &segments[2][0] != &data[members[0].ValueEnd] {
		t.Errorf("segments %q are no slices of the body", segments)
	}
}

func TestCommonEditsDoNotAllocate(t *testing.T) {
	data := []byte(`{"model":"a/b","provider":{"x":1},"messages":[],"stream":true}`)
	value, storage := []byte(`"b"`), make([]byte, 0, 256)
	var members [8]jsonscan.Member
	if n := testing.AllocsPerRun(100, func() {
		walked, err := jsonscan.Strict(data, members[:0])
		if err != nil {
			t.Fatal(err)
		}
		patch := jsonscan.NewPatch(data, walked)
		patch.Set(0, value)
		patch.Drop(1)
		patch.Add("stream_options", value)
		if patch.Len() != len(patch.Append(storage)) {
			t.Fatal("Len is not the length of the result")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestAResetPatchIsANewOne(t *testing.T) {
	data := []byte(wideObject(20))
	members, err := jsonscan.Strict(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	patch := jsonscan.NewPatch(data, members)
	for i := range members {
		patch.Set(i, []byte("0"))
	}
	other := []byte(`{"a":1,"b":2}`)
	members = jsonscan.Members(other, nil)
	patch.Reset(other, members)
	if patch.Changed() || !bytes.Equal(patch.Append(nil), other) {
		t.Fatalf("%q", patch.Append(nil))
	}
	patch.Drop(0)
	if got := string(patch.Append(nil)); got != `{"b":2}` {
		t.Fatal(got)
	}
}

func FuzzPatchIsDecodeModifyEncode(f *testing.F) {
	for _, body := range bodies {
		f.Add([]byte(body), []byte{0, 1, 2})
		f.Add([]byte(body), []byte{0x41, 0x42, 0x80, 0x00, 0x81})
	}
	type pair struct{ key, value string }
	f.Fuzz(func(t *testing.T, data, edits []byte) {
		members, err := jsonscan.Lenient(data, nil)
		if err != nil {
			return
		}
		before := bytes.Clone(data)
		patch := jsonscan.NewPatch(data, members)
		want := make([]*pair, len(members))
		for i, m := range members {
			want[i] = &pair{string(m.Key(data)), string(m.Value(data))}
		}
		original := append([]*pair(nil), want...)
		var added []*pair
		reshaped := false // members were dropped or added
		for n, edit := range edits {
			value := fmt.Sprintf(`{"edit":%d}`, n)
			switch i := int(edit & 0x3f); {
			case edit&0x80 != 0:
				key := fmt.Sprintf("new%d", n)
				patch.Add(key, []byte(value))
				added = append(added, &pair{key, value})
				reshaped = true
			case i >= len(members):
			case edit&0x40 != 0:
				patch.Drop(i)
				want[i] = nil
				reshaped = true
			default:
				patch.Set(i, []byte(value))
				want[i] = &pair{original[i].key, value}
			}
		}
		result := patch.Append(nil)
		if joined := bytes.Join(patch.Segments(nil), nil); !bytes.Equal(joined, result) || patch.Len() != len(result) {
			t.Fatalf("segments %q of %d bytes, want %q", joined, patch.Len(), result)
		}
		if !bytes.Equal(data, before) {
			t.Fatal("the body was changed")
		}
		if !json.Valid(result) {
			t.Fatalf("%q became %q", data, result)
		}
		var kept []*pair
		for _, p := range append(want, added...) {
			if p != nil {
				kept = append(kept, p)
			}
		}
		got := jsonscan.Members(result, nil)
		if len(got) != len(kept) {
			t.Fatalf("%q became %q: %d members, want %d", data, result, len(got), len(kept))
		}
		for i, m := range got {
			if string(m.Key(result)) != kept[i].key || string(m.Value(result)) != kept[i].value {
				t.Fatalf("%q became %q: member %d, want %q", data, result, i, *kept[i])
			}
		}
		list, _ := patch.Edits(nil, nil, len("before"))
		if applied := applyEdits("before"+string(data), list); applied != "before"+string(result) {
			t.Fatalf("%q became %q by its edits, and %q", data, applied, result)
		}
		if reshaped || len(members) == 0 {
			return
		}
		// With values replaced only, all that lies between them is as it was.
		from, resultFrom := 0, 0
		for i, m := range members {
			if !bytes.Equal(data[from:m.ValueStart], result[resultFrom:got[i].ValueStart]) {
				t.Fatalf("%q became %q", data, result)
			}
			from, resultFrom = m.ValueEnd, got[i].ValueEnd
		}
		if !bytes.Equal(data[from:], result[resultFrom:]) {
			t.Fatalf("%q became %q", data, result)
		}
	})
}
