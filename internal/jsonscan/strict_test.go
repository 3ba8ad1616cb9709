package jsonscan_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// nested returns depth objects and arrays in one another, the outermost an object, with the
// innermost holding nothing.
func nested(depth int) string {
	var b strings.Builder
	for i := range depth - 1 {
		if i%2 == 0 {
			b.WriteString(`{"a":`)
		} else {
			b.WriteString(`[`)
		}
	}
	if depth%2 == 1 {
		b.WriteString(`{}`)
	} else {
		b.WriteString(`[]`)
	}
	for i := depth - 2; i >= 0; i-- {
		if i%2 == 0 {
			b.WriteString(`}`)
		} else {
			b.WriteString(`]`)
		}
	}
	return b.String()
}

// wideObject has n members.
func wideObject(n int) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = fmt.Sprintf(`"k%d":%d`, i, i)
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func TestStrictAcceptsWholeObjects(t *testing.T) {
	for _, text := range []string{
		`{}`,
		" \t\r\n{ \t\r\n} \t\r\n",
		`{"a":1}`,
		"{ \"a\" :\n[ 1 , -0.5e+10 ,\ttrue,false , null,\"x\",{ \"b\" : { } },[ ] ] , \"b\":{}}",
		`{"":0}`,
		`{"a_b":1,"a-b":2,"ab":3}`,
		`{"text":"é 東京 \u00e9 \ud83d\ude00 \ud800 \" \\ \/ \b\f\n\r\t"}`,
		"{\"a\":\"\x7f\"}",
		`{"a":0,"b":-0,"c":1E5,"d":10.01,"e":1e-5}`,
		`{"a":{"k":1,"k":2,"é":3,"\u0061":4}}`,
		`{"a":[[1,2],{"b":1,"c":[]},[3,4]],"d":{"e":[5,6],"f":{"g":7,"h":8}}}`,
		nested(jsonscan.MaxDepth),
		wideObject(jsonscan.MaxMembers),
		`{"` + strings.Repeat("k", jsonscan.MaxKey) + `":1}`,
	} {
		if _, err := jsonscan.Strict([]byte(text), nil); err != nil {
			t.Errorf("Strict(%.80q): %v", text, err)
		}
	}
}

func TestMembersBeforeTheFaultAreReturned(t *testing.T) {
	body := []byte(`{"a":1,"b":2,"A":3}`)
	kept := jsonscan.Member{Kind: 'x'}
	members, err := jsonscan.Strict(body, []jsonscan.Member{kept})
	if err == nil || len(members) != 3 || members[0] != kept || string(members[2].Key(body)) != "b" {
		t.Errorf("members %v, error %v", members, err)
	}
}

func TestLenientTakesAnyKeys(t *testing.T) {
	body := []byte(`{"id":"1","\u0069d":2,"é":3,"ID":4,"id":5}`)
	members, err := jsonscan.Lenient(body, nil)
	if err != nil {
		t.Fatal(err)
	}
	if i, found := jsonscan.Find(body, members, "id"); !found || i != 4 {
		t.Errorf("Find took member %d, %t, not the last", i, found)
	}
	for _, key := range []string{"", "i", "Id", "idx"} {
		if i, found := jsonscan.Find(body, members, key); found {
			t.Errorf("Find(%q) found member %d", key, i)
		}
	}
	many := wideObject(jsonscan.MaxAnswerMembers)
	if members, err := jsonscan.Lenient([]byte(many), nil); err != nil || len(members) != jsonscan.MaxAnswerMembers {
		t.Errorf("%d members, error %v", len(members), err)
	}
	for _, text := range []string{`[]`, `{} x`, "\xef\xbb\xbf{}", "{\"a\":\"\xff\"}", wideObject(jsonscan.MaxAnswerMembers + 1)} {
		if _, err := jsonscan.Lenient([]byte(text), nil); err == nil {
			t.Errorf("Lenient(%.40q) accepted", text)
		}
	}
}

func TestMembersHaveKeyValueAndKind(t *testing.T) {
	body := []byte(`{ "o" : {"x":[1]} , "a":[ ], "s":"\"",` + "\n" + `"n":-1.5e3,"t":true,"f":false,"z":null }`)
	members, err := jsonscan.Strict(body, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range members {
		got = append(got, fmt.Sprintf("%s=%s %c", m.Key(body), m.Value(body), m.Kind))
	}
	want := []string{`o={"x":[1]} {`, `a=[ ] [`, `s="\"" "`, `n=-1.5e3 0`, `t=true t`, `f=false f`, `z=null n`}
	if !slices.Equal(got, want) {
		t.Errorf("members %q, want %q", got, want)
	}
}

func TestNestedValuesAreWalkedOnDemand(t *testing.T) {
	body := []byte(`{"messages":[ {"role":"user","content":"[]"} , [2,{}], "x",3 ],"none":[ ],"o":{"k":1,"k":2}}`)
	members, err := jsonscan.Strict(body, nil)
	if err != nil {
		t.Fatal(err)
	}
	array := members[0].Value(body)
	var got []string
	for _, span := range jsonscan.Elements(array, nil) {
		got = append(got, fmt.Sprintf("%s %c", span.Value(array), span.Kind))
	}
	want := []string{`{"role":"user","content":"[]"} {`, `[2,{}] [`, `"x" "`, `3 0`}
	if !slices.Equal(got, want) {
		t.Errorf("elements %q, want %q", got, want)
	}
	if spans := jsonscan.Elements(members[1].Value(body), nil); len(spans) != 0 {
		t.Errorf("an empty array has elements %v", spans)
	}
	object := members[2].Value(body)
	inner := jsonscan.Members(object, nil)
	if i, found := jsonscan.Find(object, inner, "k"); len(inner) != 2 || !found || string(inner[i].Value(object)) != "2" {
		t.Errorf("nested members %v, found %d %t", inner, i, found)
	}
}

func TestNestedWalksOfAnythingElseEndQuietly(t *testing.T) {
	for _, text := range []string{``, ` `, `1`, `[`, `[1`, `[1 2]`, `[1,`, `[1,]`, `{`, `{"a"`, `{"a":1`, `{"a":1 "b":2}`} {
		if spans := jsonscan.Elements([]byte(text), nil); len(spans) > 1 {
			t.Errorf("Elements(%q) = %v", text, spans)
		}
		if members := jsonscan.Members([]byte(text), nil); len(members) > 1 {
			t.Errorf("Members(%q) = %v", text, members)
		}
	}
}

func TestSpecialBytesAreFoundAtEveryDistance(t *testing.T) {
	// Every length crosses the borders between the ways of searching at another place, up to past
	// the first two looks ahead.
	for n := range 2000 {
		fill := strings.Repeat("x", n)
		body := []byte(`{"a":"` + fill + `\"é` + fill + `","b":1}`)
		members, err := jsonscan.Strict(body, nil)
		if err != nil || len(members) != 2 {
			t.Fatalf("length %d: %v, %v", n, members, err)
		}
		for _, bad := range []string{"\x1f", "\x80", "\n"} {
			body := []byte(`{"a":"é` + fill + bad + fill + `","b":1}`)
			_, err := jsonscan.Strict(body, nil)
			var syntax *jsonscan.SyntaxError
			if !errors.As(err, &syntax) || syntax.Offset != 8+n {
				t.Fatalf("%q behind %d bytes: %v", bad, n, err)
			}
		}
	}
}

func TestWalkingDoesNotAllocate(t *testing.T) {
	body := []byte(`{"model":"a/b","messages":[{"role":"user","content":"é \" x"}],"n":1}`)
	var storage [8]jsonscan.Member
	var spans [8]jsonscan.Span
	if n := testing.AllocsPerRun(100, func() {
		members, err := jsonscan.Strict(body, storage[:0])
		if err != nil {
			t.Fatal(err)
		}
		array := members[1].Value(body)
		for _, span := range jsonscan.Elements(array, spans[:0]) {
			jsonscan.Members(span.Value(array), storage[3:3])
		}
		if _, found := jsonscan.Find(body, members, "n"); !found {
			t.Fatal("n is not found")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
