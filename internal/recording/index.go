package recording

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// DefaultLimit is the size of a page of the list where none is asked for.
const DefaultLimit = 100

// maxScanned is how many entries a page reads before it ends with a day, so that no question costs more
// than about a second.
const maxScanned = 20_000

// Filter says which recordings a list has.
type Filter struct {
	Sees                   func(tenant string) bool
	Workstation, Key, User string    // "" = all
	From, To               time.Time // of the beginning, To not included; the zero time = all
	Limit                  int       // 0 = DefaultLimit
	Cursor                 string    // what the page before has returned as next
}

func (f *Filter) matches(e *Entry) bool {
	return f.Sees(e.Tenant) && (f.Workstation == "" || f.Workstation == e.Workstation) && (f.Key == "" || f.Key == e.Key) &&
		(f.User == "" || f.User == e.User) && !e.Begun.Before(f.From) && (f.To.IsZero() || e.Begun.Before(f.To))
}

// place is one in the list, newest first. The zero value is before all.
type place struct {
	begun int64 // nanoseconds since 1970
	id    string
}

func placeOf(e *Entry) place { return place{e.Begun.UnixNano(), e.ID} }

func (p place) String() string { return strconv.FormatInt(p.begun, 36) + "." + p.id }

func parsePlace(cursor string) (p place, err error) {
	if cursor == "" {
		return p, nil
	}
	begun, id, ok := strings.Cut(cursor, ".")
	p.id = id
	if p.begun, err = strconv.ParseInt(begun, 36, 64); err != nil || !ok || id != "" && !validID.MatchString(id) {
		return p, apierror.New(apierror.InvalidValue, "cursor: want the next_cursor of an earlier answer").WithParam("cursor")
	}
	return p, nil
}

// before reports whether p comes before other.
func (p place) before(other place) bool {
	return p == place{} || cmp.Or(cmp.Compare(other.begun, p.begun), cmp.Compare(other.id, p.id)) < 0
}

// List returns one page, newest first. next is "" after the last; a page may have fewer than its limit
// before that.
func (s *Store) List(f Filter) (page []Entry, next string, err error) {
	after, err := parsePlace(f.Cursor)
	if err != nil {
		return nil, "", err
	}
	days, err := s.days()
	if err != nil {
		return nil, "", err
	}
	limit, scanned := cmp.Or(f.Limit, DefaultLimit), 0
	page = []Entry{}
	for _, day := range slices.Backward(days) {
		begins, ends := day.time, day.time.AddDate(0, 0, 1)
		if ends.Before(f.From) || !f.To.IsZero() && !begins.Before(f.To) || after != (place{}) && begins.UnixNano() > after.begun {
			continue
		}
		if scanned >= maxScanned {
			return page, place{begun: ends.UnixNano()}.String(), nil
		}
		entries := s.entries(day.name)
		scanned += len(entries)
		for i := range slices.Backward(entries) {
			e := &entries[i]
			if !after.before(placeOf(e)) || !f.matches(e) {
				continue
			}
			if len(page) == limit {
				return page, placeOf(&page[limit-1]).String(), nil
			}
			page = append(page, *e)
		}
	}
	return page, "", nil
}

// Get returns the entry of a recording of a tenant that sees lets through, else [apierror.NotFound].
func (s *Store) Get(id string, sees func(tenant string) bool) (Entry, error) {
	e, _, err := s.find(id, sees)
	return e, err
}

// Open opens the file of a recording, as Get. It may still grow.
func (s *Store) Open(id string, sees func(tenant string) bool) (*os.File, Entry, error) {
	e, path, err := s.find(id, sees)
	if err != nil {
		return nil, e, err
	}
	file, err := os.Open(path + suffix)
	if errors.Is(err, fs.ErrNotExist) {
		err = errUnknown(id)
	}
	return file, e, err
}

// Delete deletes a recording, as Get. One that is being written is refused with
// [apierror.RecordingInProgress]: it may be required.
func (s *Store) Delete(id string, sees func(tenant string) bool) (Entry, error) {
	e, path, err := s.find(id, sees)
	if err != nil {
		return e, err
	}
	if e.State == Recording {
		return e, apierror.New(apierror.RecordingInProgress, "the recording %q is being written: end its session first", id)
	}
	return e, remove(path)
}

func errUnknown(id string) error {
	return apierror.New(apierror.NotFound, "there is no recording %q", id[:min(len(id), 64)])
}

// find returns an entry, and the path of its files.
func (s *Store) find(id string, sees func(tenant string) bool) (e Entry, path string, err error) {
	if !validID.MatchString(id) {
		return e, "", errUnknown(id)
	}
	days, err := s.days()
	if err != nil {
		return e, "", err
	}
	for _, day := range slices.Backward(days) {
		if e, err = s.entry(day.name, id); err == nil && sees(e.Tenant) {
			return e, s.path(day.name, id), nil
		}
	}
	return Entry{}, "", errUnknown(id)
}

// folder is that of a day.
type folder struct {
	name string
	time time.Time
}

// days returns the folders, oldest first.
func (s *Store) days() (days []folder, err error) {
	files, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, f := range files { // sorted by name
		if day, wrong := time.Parse(dayLayout, f.Name()); wrong == nil && f.IsDir() {
			days = append(days, folder{f.Name(), day})
		}
	}
	return days, err
}

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
