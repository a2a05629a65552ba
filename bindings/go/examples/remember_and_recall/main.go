// Remembers what a user likes, and recalls it in the next run.
package main

import (
	"errors"
	"fmt"
	"log"
	"os"

	"varve"
)

func main() {
	directory := "./memory"
	if len(os.Args) > 1 {
		directory = os.Args[1]
	}
	if err := run(directory); err != nil {
		log.Fatal(err)
	}
}

func run(directory string) error {
	store, err := varve.Open(directory, nil)
	if err != nil {
		return err
	}
	defer store.Close()

	session, err := store.OpenSession("kitchen")
	if errors.Is(err, varve.ErrNotFound) {
		session, err = store.CreateSession(varve.SessionOptions{SessionID: "kitchen", UserID: "ann"})
	}
	if err != nil {
		return err
	}
	defer session.Close()

	_, err = session.Add(varve.Entry{
		Type: "preference", Content: "Tea in the morning, never coffee",
		Tags: []string{"drinks"}, Importance: varve.Importance(0.9)})
	if err != nil {
		return err
	}
	if _, err := session.Add(varve.Entry{Type: "finding", Content: "The kettle is broken"}); err != nil {
		return err
	}

	for result, err := range session.Find(varve.Query{Text: "what does she drink? tea?", Limit: 1}) {
		if err != nil {
			return err
		}
		fmt.Println("recalled:", result.Entry.Content)
	}
	return nil
}
