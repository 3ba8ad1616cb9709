package limits

// Current returns the state of each rate of the subjects, in their order. It counts nothing.
func (r *Rates) Current(subjects []Subject) []Reading {
	var all []Reading
	for _, s := range subjects {
		for _, rate := range s.Rates {
			reading, _ := r.count(rate.Unit, 0, []Subject{{Name: s.Name, Rates: []Rate{rate}}}, nil)
			all = append(all, reading)
		}
	}
	return all
}
