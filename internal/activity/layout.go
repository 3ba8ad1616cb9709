package activity

import (
	"reflect"
	"slices"
	"strings"
	"time"
	"unsafe"
)

// The data of a row: one byte of version, one of flags, the numbers that each row has, the units if
// the version has them, the texts that each row has, then the parts that the flags name. Numbers
// are varints, texts follow their length. The tenant and the time have columns of their own.
const dataVersion = 1

const (
	flagStream = 1 << iota
	flagPriced
	flagRawHash // KeyHash is written as its 32 bytes
	flagSession // these are parts of the layout
	flagCap
	flagAttempted
	flagPhases
	flagAdded // then a number whose bits say which of the added fields follow
)

// The fields in the order of data. KeyHash follows the texts.
var (
	numbers = fieldsOf("status attempts latency_ms first_token_ms prompt_tokens completion_tokens reasoning_tokens cached_tokens usage")
	texts   = fieldsOf("key model provider_name id request_id client_request_id upstream_id family route upstream_model code " +
		"finish_reason native_finish_reason usage_source")
	// parts are written if one of their fields is not empty.
	parts = []part{
		{flagSession, fieldsOf("bytes_up bytes_down workstation ended")},
		{flagCap, fieldsOf("output_cap")},
		{flagAttempted, fieldsOf("attempted")},
		{flagPhases, fieldsOf("queued_ms overhead_ms trace_id refused_by")},
	}
	// added are all others, in the order of the list. Units among them are those of older rows.
	added = addedFields()
	// addedUnits has the bits of these.
	addedUnits = unitBits()
)

// part is a part of data that some rows have.
type part struct {
	flag   byte
	fields []place
}

// place is where a field is in a Record. Each call, and each row of a series by the minute, reads
// all fields: by Field.Of that takes twice as long.
type place struct {
	name   string
	kind   kind
	offset uintptr
}

// kind is the type of a field.
type kind byte

const (
	textKind     kind = iota // string
	numberKind               // int64, time.Duration
	intKind                  // int
	attemptsKind             // []Attempt
	skippedKind              // []Skipped
	boolKind                 // bool: its bit among those of the added fields is its value
)

// fieldAt returns a pointer to the field of a record that has a place.
func fieldAt[T any](r *Record, p *place) *T { return (*T)(unsafe.Add(unsafe.Pointer(r), p.offset)) }

func placeOf(f *Field) place {
	r := new(Record)
	pointer := f.Of(r)
	p := place{name: f.Name, offset: reflect.ValueOf(pointer).Pointer() - uintptr(unsafe.Pointer(r))}
	switch pointer.(type) {
	case *int64, *time.Duration:
		p.kind = numberKind
	case *int:
		p.kind = intKind
	case *[]Attempt:
		p.kind = attemptsKind
	case *[]Skipped:
		p.kind = skippedKind
	case *bool:
		p.kind = boolKind
	}
	return p
}

// elsewhere are the fields that are columns, flags or KeyHash.
const elsewhere = "tenant created_at stream priced api_key_hash"

// fieldsOf returns the places of the fields with these names.
func fieldsOf(names string) (all []place) {
	for name := range strings.FieldsSeq(names) {
		all = append(all, placeOf(&Fields[slices.IndexFunc(Fields, func(f Field) bool { return f.Name == name })]))
	}
	return all
}

func unitBits() (bits uint64) {
	var r Record
	from := unsafe.Offsetof(r.Units)
	for i, p := range added {
		if p.offset >= from && p.offset < from+unsafe.Sizeof(r.Units) {
			bits |= 1 << i
		}
	}
	return bits
}

func addedFields() (all []place) {
	older := slices.Concat(numbers, texts, fieldsOf(elsewhere))
	for _, p := range parts {
		older = append(older, p.fields...)
	}
	for i := range Fields {
		if p := placeOf(&Fields[i]); !slices.Contains(older, p) {
			all = append(all, p)
		}
	}
	return all
}
