package activity

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// filled returns a record whose numbers and texts are all different.
func filled() Record {
	var r Record
	v := reflect.ValueOf(&r).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.String:
			f.SetString(strings.Repeat(v.Type().Field(i).Name+"\x00", i+1))
		case reflect.Int, reflect.Int64:
			f.SetInt(int64(i) << (2 * i) * int64(1-i%2*2))
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Array:
			for u := range f.Len() {
				f.Index(u).SetInt(int64(u) << u)
			}
		}
	}
	return r
}

func TestDataRoundTrip(t *testing.T) {
	packed := filled()
	packed.KeyHash = strings.Repeat("09af", 16)
	upper, notHex := packed, packed
	upper.KeyHash = strings.Repeat("09AF", 16)
	notHex.KeyHash = strings.Repeat("0-9a", 16)
	attempted := filled()
	attempted.Attempted = []Attempt{{"acme/m@eu", 503, "upstream_error", time.Second}, {"acme/m", 200, "", 1}}
	skipped := attempted
	skipped.Skipped = []Skipped{{"acme/m@eu", "cooling", ""}, {"other/m", "rate_limit_exceeded", "model other/m: rate 1/min"}}
	anonymous := filled()
	anonymous.User = "" // as of rows that were written before there were users
	first, priced := Record{Stream: true}, Record{Priced: true}
	for _, want := range []Record{{}, filled(), packed, upper, notHex, first, priced, attempted, skipped, anonymous, {User: "ada"},
		{Workstation: "desk"}, {Ended: "client"}, {BytesUp: 1}, {BytesDown: 1}, {Method: "ping"}, {IsError: true}, {AnswerBytes: 1}, {Recording: "r"}} {
		got := Record{Tenant: want.Tenant, CreatedAt: want.CreatedAt, Code: "left over"}
		data := Encode([]byte("before"), &want)
		if err := Decode(data[len("before"):], &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
		}
		for n := range len(data) - len("before") {
			if err := Decode(data[len("before"):][:n], new(Record)); !errors.Is(err, ErrDamaged) {
				t.Fatalf("cut to %d bytes: %v", n, err)
			}
		}
		if err := Decode(append(data[len("before"):], 0), new(Record)); !errors.Is(err, ErrDamaged) {
			t.Errorf("with a byte more: %v", err)
		}
	}
}

// FuzzDecode checks that any bytes are refused, or become a record that is written and read back
// unchanged.
func FuzzDecode(f *testing.F) {
	r := filled()
	f.Add(Encode(nil, &r))
	f.Add(Encode(nil, &Record{KeyHash: strings.Repeat("ab", 32), Latency: time.Second}))
	f.Add(Encode(nil, &Record{Attempted: []Attempt{{"acme/m", 200, "", 1}}}))
	f.Add(Encode(nil, &Record{Skipped: []Skipped{{"acme/m", "cooling", ""}}}))
	f.Add(Encode(nil, &Record{User: "ada@example.com"}))
	f.Add(Encode(nil, &Record{Method: "tools/call", IsError: true, RequestBytes: 1, AnswerBytes: 2}))
	f.Add([]byte{dataVersion + withUnits + 1, 0})
	f.Add([]byte{dataVersion, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		var r, again Record
		if err := Decode(data, &r); err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Fatal(err)
			}
			return
		}
		if err := Decode(Encode(nil, &r), &again); err != nil || !reflect.DeepEqual(again, r) {
			t.Fatalf("got %+v, %v\nwant %+v", again, err, r)
		}
	})
}

// Rows that were written before must be read for as long as they are kept.
func TestTheLayoutOfDataIsKept(t *testing.T) {
	r := Record{
		ID: "gen-0", RequestID: "req_0", ClientRequestID: "mine", UpstreamID: "resp_0", Key: "dev", KeyHash: strings.Repeat("cd", 32),
		User: "ada@example.com", Family: "openai", Route: "POST /v1/responses", Model: "m", Provider: "router", UpstreamModel: "b",
		Status: 502, Code: "upstream_error", Stream: true, Priced: true, RefusedBy: "key dev: rate 10/min", Latency: 1, FirstToken: 2, Queued: 3,
		Overhead: 4, TraceID: "0a", FinishReason: "stop", NativeFinishReason: "end_turn", PromptTokens: 5, CompletionTokens: 6,
		ReasoningTokens: 7, CachedTokens: 8, UsageSource: UsageEstimated, CostNano: 9, Attempts: 10,
		Attempted: []Attempt{{"router/b@eu", 500, "server_error", 11}}, OutputCap: 12, Workstation: "lab1", Ended: "viewer_left", BytesUp: 13, BytesDown: 14,
	}
	const want = "01ffec071402040a0c0e101203646576016d06726f757465720567656e2d30057265715f30046d696e6506726573705f" +
		"30066f70656e616912504f5354202f76312f726573706f6e73657301620e757073747265616d5f6572726f720473746f" +
		"7008656e645f7475726e09657374696d61746564cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd" +
		"cdcdcdcd1a1c046c6162310b7669657765725f6c6566741802e807160b726f757465722f624065750c7365727665725f" +
		"6572726f720608023061146b6579206465763a20726174652031302f6d696e010f616461406578616d706c652e636f6d"
	if got := fmt.Sprintf("%x", Encode(nil, &r)); got != want {
		t.Errorf("the data are\n%s, not\n%s", got, want)
	}
	tool := Record{Method: "tools/call", IsError: true, RequestBytes: 15, AnswerBytes: 16}
	if got := fmt.Sprintf("%x", Encode(nil, &tool)); got != "0180000000000000000000000000000000000000000000000000803c0a746f6f6c732f63616c6c1e20" {
		t.Errorf("the data of a call of a tool are %s", got)
	}
	skipping := Record{Skipped: []Skipped{{"a/m", "cooling", "b"}}}
	if got := fmt.Sprintf("%x", Encode(nil, &skipping)); got != "0180000000000000000000000000000000000000000000000000808010"+"0203612f6d07636f6f6c696e670162" {
		t.Errorf("the data of a call that skipped a target are %s", got)
	}
	older := Record{User: "ada", Units: units.Counts{units.AudioInput: 300, units.Images: 2}}
	data := Encode(nil, &older)
	if got := fmt.Sprintf("%x", data); got != "0280000000000000000000d804000000000400000000000000000000000000000000000103616461" {
		t.Errorf("the data of a row with units are %s", got)
	}
	var got Record // units that were added as fields, after a user
	if err := Decode([]byte("\x01\x80"+strings.Repeat("\x00", 24)+"\x43\x03ada\xd8\x04\x04"), &got); err != nil || !reflect.DeepEqual(got, older) {
		t.Errorf("an older row is %+v, %v", got, err)
	}
}

// The lists of a borrowed row use the memory of the one before, each its own.
func TestListsOfBorrowedRowsStayApart(t *testing.T) {
	var r Record
	for n := range 3 {
		want := Record{Code: fmt.Sprint(n)}
		for i := range 2 + n {
			want.Attempted = append(want.Attempted, Attempt{Target: fmt.Sprint("asked ", n, i), Status: 503})
			want.Skipped = append(want.Skipped, Skipped{Target: fmt.Sprint("skipped ", n, i), Code: "cooling"})
		}
		if err := Borrow(Encode(nil, &want), &r); err != nil || !reflect.DeepEqual(r, want) {
			t.Errorf("got  %+v, %v\nwant %+v", r, err, want)
		}
	}
}
