package sqlite

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// recordVersion is the first byte of a record of the store's redo log. Behind it are the closed
// calls, what was spent and the opened calls, each list after its length:
//
//	closed: call
//	spent:  subject, budget, period, amount, calls
//	opened: call, at, list of (subject, budget, period, amount)
//
// Numbers are varints, unsigned unless they are a time. A text follows its length.
const recordVersion = 1

var (
	errRecord        = errors.New("its record of reservations cannot be read")
	errRecordVersion = errors.New("its record of reservations was written by another version of the program")
)

// AppendRecord implements store.Logged.
func (rows *ledgerRows) AppendRecord(b []byte) []byte {
	b = append(b, recordVersion)
	b = binary.AppendUvarint(b, uint64(len(rows.closed)))
	for _, call := range rows.closed {
		b = appendText(b, call)
	}
	b = binary.AppendUvarint(b, uint64(len(rows.spent)))
	for i := range rows.spent {
		s := &rows.spent[i]
		b = s.key.appendTo(b)
		b = binary.AppendUvarint(b, uint64(s.amount))
		b = binary.AppendUvarint(b, uint64(s.calls))
	}
	b = binary.AppendUvarint(b, uint64(len(rows.opened)))
	for i := range rows.opened {
		c := &rows.opened[i]
		b = appendText(b, c.call)
		b = binary.AppendVarint(b, c.at)
		b = binary.AppendUvarint(b, uint64(len(c.amounts)))
		for j := range c.amounts {
			b = c.amounts[j].key.appendTo(b)
			b = binary.AppendUvarint(b, uint64(c.amounts[j].amount))
		}
	}
	return b
}

func (k *ledgerKey) appendTo(b []byte) []byte {
	return appendText(appendText(appendText(b, k.subject), k.budget), k.period)
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// redoRows reads what AppendRecord wrote.
func redoRows(record []byte) (store.Op, error) {
	if len(record) == 0 || record[0] != recordVersion {
		return nil, errRecordVersion
	}
	r := recordReader{left: record[1:]}
	rows := &ledgerRows{}
	for range r.length() {
		rows.closed = append(rows.closed, r.text())
	}
	for range r.length() {
		rows.spent = append(rows.spent, spentRow{r.key(), r.number(), r.number()})
	}
	for range r.length() {
		c := openedCall{call: r.text(), at: r.time()}
		for range r.length() {
			c.amounts = append(c.amounts, openedAmount{r.key(), r.number()})
		}
		rows.opened = append(rows.opened, c)
	}
	if r.failed || len(r.left) > 0 {
		return nil, errRecord
	}
	return rows, nil
}

// recordReader reads the parts of a record. After a failure it returns zeros.
type recordReader struct {
	left   []byte
	failed bool
}

func (r *recordReader) fail() {
	r.left, r.failed = nil, true
}

// number reads an amount: no more than an int64.
func (r *recordReader) number() int64 {
	value, n := binary.Uvarint(r.left)
	if n <= 0 || value > math.MaxInt64 {
		r.fail()
		return 0
	}
	r.left = r.left[n:]
	return int64(value)
}

func (r *recordReader) time() int64 {
	value, n := binary.Varint(r.left)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.left = r.left[n:]
	return value
}

// length reads the length of a list or text: no more than the bytes that are left.
func (r *recordReader) length() int {
	n := r.number()
	if n > int64(len(r.left)) {
		r.fail()
		return 0
	}
	return int(n)
}

func (r *recordReader) text() string {
	n := r.length()
	text := string(r.left[:n])
	r.left = r.left[n:]
	return text
}

func (r *recordReader) key() ledgerKey { return ledgerKey{r.text(), r.text(), r.text()} }
