package recording

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"
)

// entries returns the recordings of a day, oldest first. What cannot be read is left out.
func (s *Store) entries(day string) (all []Entry) {
	files, _ := os.ReadDir(s.path(day, ""))
	for _, f := range files {
		id, ok := strings.CutSuffix(f.Name(), suffix)
		if !ok || !validID.MatchString(id) {
			continue
		}
		e, err := s.entry(day, id)
		if err == nil {
			all = append(all, e)
		} else if !errors.Is(err, fs.ErrNotExist) {
			s.logger.Warn("a recording is not listed", zap.String("session", id), zap.Error(err))
		}
	}
	slices.SortFunc(all, func(a, b Entry) int { return cmp.Or(a.Begun.Compare(b.Begun), cmp.Compare(a.ID, b.ID)) })
	return all
}

// entry reads one. Of a recording whose stored entry is lost or damaged it says what the recording itself does.
func (s *Store) entry(day, id string) (e Entry, err error) {
	path := s.path(day, id)
	info, err := os.Stat(path + suffix)
	if err != nil {
		return e, err
	}
	if e, err = readEntry(path+sidecar, id); err != nil {
		s.logger.Warn("the entry of a recording cannot be read", zap.String("session", id), zap.Error(err))
		if e, err = s.restore(day, id); err != nil {
			return e, err
		}
	}
	e.Bytes = info.Size()
	silent := e.Node == s.node() || s.now().Sub(info.ModTime()) > silence
	_, ours := writing.Load(path)
	if e.State == Recording && silent && !ours { // its gateway has died
		e.State = Incomplete
	}
	if e.State != Recording && e.Ended == nil {
		ended := info.ModTime().UTC()
		e.Ended = &ended
	}
	return e, nil
}

// readEntry reads the stored entry of a recording.
func readEntry(path, id string) (e Entry, err error) {
	file, err := os.Open(path)
	if err != nil {
		return e, err
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, maxEntry))
	if err == nil {
		err = json.Unmarshal(text, &e)
	}
	if err == nil && e.ID != id {
		err = fmt.Errorf("it says that it is %.64q", e.ID)
	}
	return e, err
}

// restore makes the entry of a recording from its file. Without an identity nobody knows whose it is: then it has
// no tenant, and those see it who see all.
func (s *Store) restore(day, id string) (e Entry, err error) {
	file, err := os.Open(s.path(day, id) + suffix)
	if err != nil {
		return e, err
	}
	defer func() { _ = file.Close() }()
	e = Entry{ID: id, State: Recording}
	if e.Begun, err = time.Parse(dayLayout, day); err != nil {
		return e, err
	}
	if r, wrong := NewReader(file, s.Identities...); wrong == nil && r.header.Session == id {
		h := &r.header
		e.Tenant, e.Workstation, e.Key, e.User, e.Role, e.Node, e.Begun = h.Tenant, h.Workstation, h.Key, h.User, h.Role, h.Node, h.Begun.UTC()
	}
	if isWhole(file) {
		e.State = Complete
	}
	return e, nil
}

// isWhole reports whether the file of a recording ends with its last chunk. It reads lengths only: what the chunks
// have is checked when they are read.
func isWhole(file io.ReaderAt) bool {
	var length [4]byte
	read := func(at int64) (n uint32, ok bool) {
		_, err := file.ReadAt(length[:], at)
		return binary.BigEndian.Uint32(length[:]), err == nil
	}
	at := int64(len(magic))
	n, ok := read(at)
	for ok && n&lastChunk == 0 {
		at += int64(len(length)) + int64(n)
		n, ok = read(at)
	}
	if !ok {
		return false
	}
	at += int64(len(length)) + int64(n&^lastChunk)
	_, err := file.ReadAt(length[:1], at-1)
	_, more := file.ReadAt(length[:1], at)
	return err == nil && errors.Is(more, io.EOF)
}
