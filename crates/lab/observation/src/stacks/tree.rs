//! Folded stacks as a tree of calls.

use std::collections::BTreeMap;

use super::Folded;

/// A frame below one particular chain of callers.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// The weight of the frame with everything it called.
    pub inclusive: u64,
    /// The functions that this function called, by name.
    pub calls: BTreeMap<String, Node>,
}

impl Node {
    /// The root of all stacks.
    pub fn of(folded: &Folded) -> Self {
        let mut root = Self::default();
        for (stack, weight) in folded.iter() {
            root.inclusive += weight;
            let mut node = &mut root;
            for frame in stack {
                node = node.calls.entry(frame.clone()).or_default();
                node.inclusive += weight;
            }
        }
        root
    }

    pub fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |node, frame| node.calls.get(*frame))
    }

    /// Calls `visit` with the path and the node of every frame, callers first.
    pub fn walk<'a>(&'a self, visit: &mut impl FnMut(&[&'a str], &'a Self)) {
        fn below<'a>(
            node: &'a Node,
            path: &mut Vec<&'a str>,
            visit: &mut impl FnMut(&[&'a str], &'a Node),
        ) {
            for (frame, call) in &node.calls {
                path.push(frame);
                visit(path, call);
                below(call, path, visit);
                path.pop();
            }
        }
        below(self, &mut Vec::new(), visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_includes_the_weight_of_its_calls() {
        let tree = Node::of(&"a 1\na;b 2\na;b;c 4\nd 8\n".parse().unwrap());
        assert_eq!(tree.inclusive, 15);
        assert_eq!(tree.at(&["a", "b"]).unwrap().inclusive, 6);
        assert!(tree.at(&["b"]).is_none());
        let mut seen = Vec::new();
        tree.walk(&mut |path, node| seen.push((path.join(";"), node.inclusive)));
        let expected = [("a", 7), ("a;b", 6), ("a;b;c", 4), ("d", 8)];
        assert_eq!(seen, expected.map(|(path, weight)| (path.to_owned(), weight)));
    }
}
