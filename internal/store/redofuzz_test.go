package store_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// Of any file the reader returns records that make the file's beginning again, with rising numbers.
func FuzzRedoReader(f *testing.F) {
	whole := store.AppendHead(nil, 7)
	for i, text := range []string{"", "a", "a longer text"} {
		whole = store.AppendRecord(whole, uint64(2*i+1), entry(text))
	}
	f.Add(whole)
	f.Add(whole[:len(whole)-1])
	f.Add(append(whole[:len(whole):len(whole)], whole[16:]...)) // numbers that go back
	f.Add(store.AppendHead(nil, 8))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, file []byte) {
		again, last := store.AppendHead(nil, 7), uint64(0)
		err := store.ReadRedo(bytes.NewReader(file), 7, func(number uint64, text []byte) error {
			if number <= last {
				t.Errorf("%d behind %d", number, last)
			}
			last = number
			again = store.AppendRecord(again, number, entry(text))
			return nil
		})
		switch {
		case err == nil && len(file) == 0:
		case err == nil && !bytes.Equal(file, again):
			t.Errorf("read %x of %x without an error", again, file)
		case errors.Is(err, store.ErrTorn) && last > 0 && !bytes.HasPrefix(file, again):
			t.Errorf("read %x of %x", again, file)
		case err != nil && !errors.Is(err, store.ErrTorn) && !errors.Is(err, store.ErrOtherRun):
			t.Error(err)
		}
	})
}
