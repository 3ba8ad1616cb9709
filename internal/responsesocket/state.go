package responsesocket

import (
	"container/list"
	"sync"
)

// MaxStates bounds what all connections of a process keep of their conversations, in bytes. The one
// whose state goes sends its whole conversation again, which costs it 0.2 s.
const MaxStates = 256 << 20

// states are the conversations that connections keep.
type states struct {
	most int64

	mu   sync.Mutex // guards the following, and what idle states have
	used int64
	idle list.List // of *state; the one that was used last is behind
}

// state is the conversation up to the newest response of a connection: what was asked, and what was
// answered. A provider that keeps no response, or whose API has none, gets all of it again.
type state struct {
	all  *states
	id   string        // of the newest response; "" for none
	json []byte        // the items, an array; nil for none
	held int64         // of all.used
	spot *list.Element // in all.idle; nil while a turn uses it
}

// take returns the id and the items of the state for a turn, which alone has them until keep or
// drop.
func (s *state) take() {
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	if s.spot != nil {
		s.all.idle.Remove(s.spot)
		s.spot = nil
	}
}

// keep lets others have the memory of the state if they need it more. It is the end of a turn.
func (s *state) keep(id string) {
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	s.id = id
	s.spot = s.all.idle.PushBack(s)
}

// drop forgets the state.
func (s *state) drop() {
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	s.forget()
}

func (s *state) forget() {
	if s.spot != nil {
		s.all.idle.Remove(s.spot)
		s.spot = nil
	}
	s.all.used -= s.held
	s.id, s.json, s.held = "", nil, 0
}

// add adds elements of an array to a state that was taken. It reports false, and the state is
// dropped, if it would have more than most bytes or if there is no memory for them.
func (s *state) add(elements []byte, most int64) bool {
	if len(elements) == 0 {
		return s.grow(2, most) && s.append(nil)
	}
	return s.grow(len(s.json)+len(elements)+2, most) && s.append(elements)
}

func (s *state) append(elements []byte) bool {
	if len(s.json) == 0 {
		s.json = append(s.json, '[', ']')
	}
	s.json = s.json[:len(s.json)-1]
	if len(s.json) > 1 && len(elements) > 0 {
		s.json = append(s.json, ',')
	}
	s.json = append(append(s.json, elements...), ']')
	return true
}

// grow makes room for so many bytes.
func (s *state) grow(size int, most int64) bool {
	if int64(size) <= most && size <= cap(s.json) {
		return true
	}
	if int64(size) > most || !s.hold(2*int64(size)) {
		s.drop()
		return false
	}
	s.json = append(make([]byte, 0, 2*size), s.json...)
	return true
}

// hold counts so many bytes for the state, and takes those of others that are idle.
func (s *state) hold(size int64) bool {
	all := s.all
	all.mu.Lock()
	defer all.mu.Unlock()
	for all.used-s.held+size > all.most {
		oldest := all.idle.Front()
		if oldest == nil {
			return false
		}
		oldest.Value.(*state).forget()
	}
	all.used += size - s.held
	s.held = size
	return true
}
