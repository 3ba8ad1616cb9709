package activity

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
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
	anonymous := filled()
	anonymous.User = "" // as of rows that were written before there were users
	first, priced := Record{Stream: true}, Record{Priced: true}
	for _, want := range []Record{{}, filled(), packed, upper, notHex, first, priced, attempted, anonymous, {User: "ada"},
		{Workstation: "desk"}, {Ended: "client"}, {BytesUp: 1}, {BytesDown: 1}} {
		got := Record{Tenant: want.Tenant, CreatedAt: want.CreatedAt, Code: "left over"}
		data := want.encode([]byte("before"))
		if err := got.decode(data[len("before"):]); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
		}
		for n := range len(data) - len("before") {
			if err := new(Record).decode(data[len("before"):][:n]); !errors.Is(err, errDamaged) {
				t.Fatalf("cut to %d bytes: %v", n, err)
			}
		}
		if err := new(Record).decode(append(data[len("before"):], 0)); !errors.Is(err, errDamaged) {
			t.Errorf("with a byte more: %v", err)
		}
	}
}

// FuzzDecode checks that any bytes are refused, or become a record that is written and read back
// unchanged.
func FuzzDecode(f *testing.F) {
	r := filled()
	f.Add(r.encode(nil))
	f.Add((&Record{KeyHash: strings.Repeat("ab", 32), Latency: time.Second}).encode(nil))
	f.Add((&Record{Attempted: []Attempt{{"acme/m", 200, "", 1}}}).encode(nil))
	f.Add((&Record{User: "ada@example.com"}).encode(nil))
	f.Add([]byte{dataVersion + 1, 0})
	f.Add([]byte{dataVersion, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		var r, again Record
		if err := r.decode(data); err != nil {
			if !errors.Is(err, errDamaged) {
				t.Fatal(err)
			}
			return
		}
		if err := again.decode(r.encode(nil)); err != nil || !reflect.DeepEqual(again, r) {
			t.Fatalf("got %+v, %v\nwant %+v", again, err, r)
		}
	})
}
