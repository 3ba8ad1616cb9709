package valkey

import (
	"encoding/binary"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// line is what a call takes from one account.
type line struct {
	subject      string
	budget       limits.Budget
	account      string    // its name in the engine
	begins, ends time.Time // of the period in which the call was admitted; zero for Total
	amount       int64
}

// linesOf returns what a request takes. An amount above limits.MaxSharedBudget, which no call costs, counts as that.
func linesOf(r *limits.ReserveRequest) []line {
	var all []line
	for i := range r.Subjects {
		for _, b := range r.Subjects[i].Budgets {
			l := line{subject: r.Subjects[i].Name, budget: b, account: accountOf(r.Subjects[i].Name, b), amount: min(r.Amount(b), limits.MaxSharedBudget)}
			l.begins, l.ends = b.Period.Span(r.At)
			all = append(all, l)
		}
	}
	return all
}

// accountOf returns the name of an account in the engine.
func accountOf(subject string, b limits.Budget) string { return subject + "/" + b.Name() }

// parseAccount reads what accountOf wrote.
func parseAccount(account string) (subject string, b limits.Budget, ok bool) {
	at := strings.LastIndexByte(account, '/')
	if at < 0 {
		return "", b, false
	}
	if at = strings.LastIndexByte(account[:at], '/'); at < 0 {
		return "", b, false
	}
	b.Unit, b.Period, ok = limits.ParseBudgetName(account[at+1:])
	return account[:at], b, ok
}

// limit is the line's limit for the engine: "" for none.
func (l *line) limit() string {
	if l.budget.Limit == limits.NoLimit {
		return ""
	}
	return number(min(l.budget.Limit, limits.MaxSharedBudget))
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

// seconds is how the engine keeps the beginning of a period: Total begins at 0.
func seconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

// ending is how the engine keeps the end of a period: Total has "".
func ending(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return number(t.Unix())
}

// linePieces is how many texts a hold has for each line.
const linePieces = 5

// appendHold writes what a call has reserved as the engine keeps it: see ledger_accounts.lua.
func appendHold(b []byte, at time.Time, all []line) []byte {
	b = append(b, 0xdc)
	b = binary.BigEndian.AppendUint16(b, uint16(1+linePieces*len(all)))
	b = appendPiece(b, number(at.UnixNano()))
	for i := range all {
		l := &all[i]
		b = appendPiece(b, l.account)
		b = appendPiece(b, l.budget.Unit.String())
		b = appendPiece(b, number(seconds(l.begins)))
		b = appendPiece(b, ending(l.ends))
		b = appendPiece(b, number(l.amount))
	}
	return b
}

// appendPiece writes a text in msgpack.
func appendPiece(b []byte, text string) []byte {
	if len(text) < 32 {
		b = append(b, 0xa0|byte(len(text)))
	} else {
		b = append(b, 0xda)
		b = binary.BigEndian.AppendUint16(b, uint16(len(text)))
	}
	return append(b, text...)
}

var errHold = errors.New("what a call has reserved cannot be read")

// parseHold reads what appendHold wrote. The limits of the budgets are not in it.
func parseHold(hold string) (at time.Time, all []line, err error) {
	if len(hold) < 3 || hold[0] != 0xdc {
		return at, nil, errHold
	}
	n := int(hold[1])<<8 | int(hold[2])
	if n > len(hold) || n%linePieces != 1 {
		return at, nil, errHold
	}
	pieces, left := make([]string, 0, n), hold[3:]
	for range n {
		var piece string
		var ok bool
		if piece, left, ok = cutPiece(left); !ok {
			return at, nil, errHold
		}
		pieces = append(pieces, piece)
	}
	nano, err := strconv.ParseInt(pieces[0], 10, 64)
	if err != nil || left != "" {
		return at, nil, errHold
	}
	for p := pieces[1:]; len(p) > 0; p = p[linePieces:] {
		l, ok := parseLine(p)
		if !ok {
			return at, nil, errHold
		}
		all = append(all, l)
	}
	return time.Unix(0, nano).UTC(), all, nil
}

func cutPiece(text string) (piece, left string, ok bool) {
	if text == "" {
		return "", "", false
	}
	head, n := 1, int(text[0]&0x1f)
	switch {
	case text[0]&0xe0 == 0xa0:
	case text[0] == 0xda && len(text) >= 3:
		head, n = 3, int(text[1])<<8|int(text[2])
	default:
		return "", "", false
	}
	if len(text) < head+n {
		return "", "", false
	}
	return text[head : head+n], text[head+n:], true
}

func parseLine(p []string) (l line, ok bool) {
	l.account = p[0]
	if l.subject, l.budget, ok = parseAccount(p[0]); !ok || l.budget.Unit.String() != p[1] {
		return l, false
	}
	begins, err := strconv.ParseInt(p[2], 10, 64)
	if err != nil || begins < 0 {
		return l, false
	}
	l.begins, l.ends = periodAt(l.budget.Period, begins)
	if seconds(l.begins) != begins || ending(l.ends) != p[3] {
		return l, false
	}
	l.amount, err = strconv.ParseInt(p[4], 10, 64)
	return l, err == nil && l.amount >= 0
}

// periodAt returns the period that begins at a time of the engine.
func periodAt(p limits.Period, begins int64) (from, to time.Time) {
	return p.Span(time.Unix(begins, 0))
}
