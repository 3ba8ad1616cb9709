package activity

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strings"
	"unsafe"

	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// ErrDamaged means that this version cannot have written the row.
var ErrDamaged = errors.New("damaged activity row")

// rawHash is the length of a SHA-256.
const rawHash = 32

// Encode appends the data of r to b.
func Encode(b []byte, r *Record) []byte {
	flags := len(b) + 1
	b = append(b, dataVersion, 0)
	if r.Stream {
		b[flags] |= flagStream
	}
	if r.Priced {
		b[flags] |= flagPriced
	}
	b = appendUnits(r.appendFields(b, numbers), flags-1, &r.Units)
	b = r.appendFields(b, texts)
	if hash, ok := packHex(r.KeyHash); ok {
		b[flags] |= flagRawHash
		b = append(b, hash[:]...)
	} else {
		b = appendText(b, r.KeyHash)
	}
	for i := range parts {
		if p := &parts[i]; r.filled(p.fields) != 0 {
			b[flags] |= p.flag
			b = r.appendFields(b, p.fields)
		}
	}
	bits := r.filled(added) &^ addedUnits
	if bits == 0 {
		return b
	}
	b[flags] |= flagAdded
	b = binary.AppendUvarint(b, bits)
	for i := range added {
		if bits&(1<<i) != 0 {
			b = r.appendFields(b, added[i:i+1])
		}
	}
	return b
}

// withUnits is what a version is greater by whose rows have all units, of calls or of sums, behind the
// numbers that all have, where SQL can read them (see dialect.view). Rows without units need none.
const withUnits = 1

// appendUnits appends units to a row that begins at start of b.
func appendUnits(b []byte, start int, all *units.Counts) []byte {
	if !all.Some() {
		return b
	}
	b[start] += withUnits
	for _, n := range all {
		b = binary.AppendVarint(b, n)
	}
	return b
}

// units reads what appendUnits has written, if the row has it.
func (in *reader) units(all *units.Counts, has bool) {
	*all = units.Counts{}
	for u := range all {
		if has {
			all[u] = in.number()
		}
	}
}

// filled returns a bit for each field that is not empty.
func (r *Record) filled(fields []place) (bits uint64) {
	for i := range fields {
		empty := false
		switch p := &fields[i]; p.kind {
		case textKind:
			empty = *fieldAt[string](r, p) == ""
		case numberKind:
			empty = *fieldAt[int64](r, p) == 0
		case intKind:
			empty = *fieldAt[int](r, p) == 0
		case attemptsKind:
			empty = len(*fieldAt[[]Attempt](r, p)) == 0
		case skippedKind:
			empty = len(*fieldAt[[]Skipped](r, p)) == 0
		case boolKind:
			empty = !*fieldAt[bool](r, p)
		}
		if !empty {
			bits |= 1 << i
		}
	}
	return bits
}

// appendFields appends the values of fields.
func (r *Record) appendFields(b []byte, fields []place) []byte {
	for i := range fields {
		switch p := &fields[i]; p.kind {
		case textKind:
			b = appendText(b, *fieldAt[string](r, p))
		case numberKind:
			b = binary.AppendVarint(b, *fieldAt[int64](r, p))
		case intKind:
			b = binary.AppendVarint(b, int64(*fieldAt[int](r, p)))
		case attemptsKind:
			all := *fieldAt[[]Attempt](r, p)
			b = binary.AppendVarint(b, int64(len(all)))
			for _, a := range all {
				b = binary.AppendVarint(binary.AppendVarint(b, int64(a.Status)), int64(a.Latency))
				b = appendText(appendText(b, a.Target), a.Code)
			}
		case skippedKind:
			all := *fieldAt[[]Skipped](r, p)
			b = binary.AppendVarint(b, int64(len(all)))
			for _, s := range all {
				b = appendText(appendText(appendText(b, s.Target), s.Code), s.RefusedBy)
			}
		}
	}
	return b
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// Decode sets all of r except the tenant and the time. The texts share one copy of data.
func Decode(data []byte, r *Record) error {
	in := reader{text: string(data)}
	if err := in.record(r, data); err != nil {
		return err
	}
	if in.hash != nil {
		r.KeyHash = hex.EncodeToString(in.hash)
	}
	return nil
}

// Borrow is Decode without KeyHash and without memory of its own: the texts are valid as long as
// data is, the lists until the next row is borrowed.
func Borrow(data []byte, r *Record) error {
	in := reader{text: unsafe.String(unsafe.SliceData(data), len(data)), tried: r.Attempted[:0], skipped: r.Skipped[:0]}
	return in.record(r, data)
}

// record sets r from data.
func (in *reader) record(r *Record, data []byte) error {
	if len(data) < 2 || data[0] != dataVersion && data[0] != dataVersion+withUnits {
		return ErrDamaged
	}
	flags := data[1]
	*r = Record{Tenant: r.Tenant, CreatedAt: r.CreatedAt, Stream: flags&flagStream != 0, Priced: flags&flagPriced != 0}
	in.rest = data[2:]
	in.fields(r, numbers)
	in.units(&r.Units, data[0] > dataVersion)
	in.fields(r, texts)
	if flags&flagRawHash == 0 {
		r.KeyHash = in.string()
	} else if len(in.rest) >= rawHash {
		in.hash, in.rest = in.rest[:rawHash], in.rest[rawHash:]
	} else {
		in.bad = true
	}
	for i := range parts {
		if flags&parts[i].flag != 0 {
			in.fields(r, parts[i].fields)
		}
	}
	bits := uint64(0)
	if flags&flagAdded != 0 {
		if bits = in.size(); bits == 0 || bits>>len(added) != 0 { // of a later version
			return ErrDamaged
		}
	}
	for i := range added {
		if bits&(1<<i) != 0 {
			in.fields(r, added[i:i+1])
		}
	}
	if in.bad || len(in.rest) > 0 {
		return ErrDamaged
	}
	return nil
}

// packHex halves a hash. It accepts only the lower-case form that Decode writes.
func packHex(s string) (hash [rawHash]byte, ok bool) {
	if len(s) != 2*rawHash || s != strings.ToLower(s) {
		return hash, false
	}
	_, err := hex.Decode(hash[:], []byte(s))
	return hash, err == nil
}
