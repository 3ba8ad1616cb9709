package screen

// TakePlaces takes all places of those who make pictures, and returns how many there are.
func (s *Screens) TakePlaces() (places int, free func()) {
	for range cap(s.makers) {
		s.makers <- struct{}{}
	}
	return cap(s.makers), func() {
		for range cap(s.makers) {
			<-s.makers
		}
	}
}
