package recording

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"filippo.io/age"
	"go.uber.org/zap"
)

// Defaults of Settings.
const (
	DefaultKeep    = 30 * 24 * time.Hour
	DefaultMaxSize = 200 << 30
)

// Settings say how sessions are recorded, and for how long that is kept.
type Settings struct {
	// Dir has a folder for each day (UTC) with recordings in it. It is an absolute path.
	Dir string
	// Recipients can read what is recorded from now on.
	Recipients []age.Recipient
	// Identities read recordings for replay; none: nothing is replayed here.
	Identities []age.Identity
	// Keep is how long a recording is kept, by days; MaxSize how many bytes all of them may have.
	Keep    time.Duration
	MaxSize int64
	Input   Input
}

// writing has the paths of the recordings that this process writes, of all configurations.
var writing sync.Map

// Store has the recordings of a configuration.
//
//	DIR/2026-11-24/vnc-8c1f….ghrec   a recording
//	DIR/2026-11-24/vnc-8c1f….json    its Entry, for lists: whoever reads the folder reads that; if it is lost,
//	                                 the recording itself says what it is
//
// Gateways may share a folder.
type Store struct {
	Settings
	node   func() string
	logger *zap.Logger
	now    func() time.Time
	create func(path string) (io.WriteCloser, error) // a new file, and its folder
}

// NewStore returns the store. It opens no file. node says the gateway's name in a cluster, "" outside one.
func NewStore(s Settings, node func() string, logger *zap.Logger, now func() time.Time) *Store {
	if s.Keep <= 0 {
		s.Keep = DefaultKeep
	}
	if s.MaxSize <= 0 {
		s.MaxSize = DefaultMaxSize
	}
	return &Store{s, node, logger, now, create}
}

// State is whether a recording is whole.
type State string

// The states.
const (
	Recording  State = "recording"  // it is being written
	Complete   State = "complete"   // up to the end of the session
	Incomplete State = "incomplete" // up to a moment when it could not be written any more
)

// Entry is what lists show of a recording: what the session's row says too, and nothing of what was on
// the screen. It is stored in clear.
type Entry struct {
	ID          string     `json:"id"` // of the session
	Tenant      string     `json:"tenant"`
	Workstation string     `json:"workstation"`
	Key         string     `json:"key"`
	User        string     `json:"user,omitempty"`
	Role        string     `json:"role,omitempty"`
	Node        string     `json:"node,omitempty"`
	Begun       time.Time  `json:"begun"`
	Ended       *time.Time `json:"ended,omitempty"`
	State       State      `json:"state"`
	Reason      string     `json:"reason,omitempty"` // of the session's end
	Bytes       int64      `json:"bytes"`            // of the file
}

const (
	suffix    = ".ghrec"
	sidecar   = ".json"
	dayLayout = time.DateOnly

	// maxEntry bounds a stored Entry, in bytes.
	maxEntry = 8 << 10
	// silence is how long after the last write another gateway's recording is taken for cut off.
	silence = 24 * time.Hour
)

var validID = regexp.MustCompile(`^vnc-[0-9a-f]{16,40}$`)

var errBadID = errors.New("the id of a session cannot be the name of a file")

// path is a file's of a recording, without its suffix.
func (s *Store) path(day, id string) string { return filepath.Join(s.Dir, day, id) }

func create(path string) (io.WriteCloser, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// Begin begins the recording of a session. failed is [Options.Failed]. A disk that does not answer within 5
// seconds is an error.
func (s *Store) Begin(h Header, failed func(error)) (*Writer, error) {
	type result struct {
		w   *Writer
		err error
	}
	begun, limit := make(chan result, 1), time.NewTimer(closeWait)
	defer limit.Stop()
	go func() {
		w, err := s.begin(h, failed)
		begun <- result{w, err}
	}()
	select {
	case r := <-begun:
		return r.w, r.err
	case <-limit.C:
		go func() { _ = (<-begun).w.Close("") }() // when the disk answers after all
		return nil, errStuck
	}
}

func (s *Store) begin(h Header, failed func(error)) (*Writer, error) {
	if !validID.MatchString(h.Session) {
		return nil, errBadID
	}
	h.Node = s.node()
	path := s.path(h.Begun.UTC().Format(dayLayout), h.Session)
	file, err := s.create(path + suffix)
	if err != nil {
		return nil, err
	}
	e := Entry{
		ID: h.Session, Tenant: h.Tenant, Workstation: h.Workstation, Key: h.Key, User: h.User, Role: h.Role, Node: h.Node,
		Begun: h.Begun.UTC(), State: Recording,
	}
	writing.Store(path, true)
	w, err := NewWriter(file, h, Options{
		Recipients: s.Recipients, Input: s.Input, Now: s.now, Failed: failed,
		Closed: func(end End, failed error) { s.closed(path, e, end, failed) },
	})
	if err == nil {
		if err = writeEntry(path, e); err != nil {
			_ = w.Close("") // it closes the file
		}
	}
	if err != nil {
		writing.Delete(path)
		_ = remove(path)
		return nil, err
	}
	return w, nil
}

// closed notes the end of a recording.
func (s *Store) closed(path string, e Entry, end End, failed error) {
	defer writing.Delete(path)
	now := s.now().UTC()
	e.State, e.Reason, e.Ended = Complete, end.Reason, &now
	if failed != nil {
		e.State = Incomplete
	}
	if err := writeEntry(path, e); err != nil && failed == nil { // else the file says so
		s.logger.Warn("the end of a recording could not be noted", zap.String("session", e.ID), zap.Error(err))
	}
}

// writeEntry replaces an entry in one step.
func writeEntry(path string, e Entry) error {
	text, err := json.Marshal(e)
	if err == nil {
		err = os.WriteFile(path+".new", text, 0o600)
	}
	if err == nil {
		err = os.Rename(path+".new", path+sidecar)
	}
	return err
}

// remove deletes the files of a recording.
func remove(path string) error {
	err := os.Remove(path + suffix)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	_ = os.Remove(path + ".new")
	if gone := os.Remove(path + sidecar); err == nil && !errors.Is(gone, fs.ErrNotExist) {
		err = gone
	}
	return err
}
